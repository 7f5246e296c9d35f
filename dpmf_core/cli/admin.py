"""`admin` and `settings`: for whoever runs a server, on its own machine."""

from typing import Any

import click

from dpmf_core.administration import control_socket, overview, permissions
from dpmf_core.cli import tables
from dpmf_core.cli.stored_run import whole_key
from dpmf_core.cli.tables import json_option
from dpmf_core.errors import BadInput
from dpmf_core.runs.store import Store, to_json
from dpmf_core.serving.settings import WITHOUT_LIMIT, setting_rows


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def admin(context: click.Context, as_json: bool) -> None:
    """The servers that run on this data folder: sessions, queue, memory, store."""
    if context.invoked_subcommand is not None:
        return
    servers = [_whole(answer) for answer in control_socket.ask({"do": "show"})]
    click.echo(to_json(servers) if as_json else "\n\n".join(_text(server) for server in servers))


def _whole(answer: dict[str, Any]) -> dict[str, Any]:
    """Raises BadInput with what the server could not do."""
    if "error" in answer:
        raise BadInput(str(answer["error"]))
    return answer


def _text(server: dict[str, Any]) -> str:
    """What the Operator page shows, as text."""
    sessions = [
        [
            it["label"] or "-",
            it["owner"],
            it["page"] or "-",
            overview.lasting(it["seconds"]),
            overview.presence(it["away"]),
            it["brought"],
        ]
        for it in server["sessions"]
    ]
    queue = [
        [
            it["ticket"][:8],
            it["words"],
            it["state"],
            it["step"] or it["ahead"],
            it["owner"] or "-",
            overview.lasting(it["age"]),
        ]
        for it in server["queue"]
    ]
    parts = [
        overview.summary(server),
        tables.table(["login", "owner", "page", "since", "here", "own files"], sessions)
        if sessions
        else "No session is open.",
        tables.table(["run", "what", "state", "step, or runs ahead", "owner", "age"], queue)
        if queue
        else "The queue is empty.",
    ]
    return "\n\n".join(parts)


@admin.command()
@click.argument("run")
@json_option
def stop(run: str, as_json: bool) -> None:
    """End a run of the queue, for everybody who waits for it.

    The first characters of RUN are enough.
    """
    answers = control_socket.ask({"do": "stop", "run": run})
    stopped_runs = [answer["stopped"] for answer in answers if "stopped" in answer]
    if not stopped_runs:
        _whole(answers[0])
    click.echo(
        to_json({"stopped": stopped_runs})
        if as_json
        else "\n".join(f"Stopped {words}." for words in stopped_runs)
    )


def _pin(name: str, pinned: bool, as_json: bool) -> None:
    store = Store()
    whole = whole_key(store, name)
    permissions.pin(store, whole, pinned)
    click.echo(
        to_json({"name": whole, "pinned": pinned})
        if as_json
        else f"{whole} is {'pinned' if pinned else 'not pinned any more'}."
    )


@admin.command()
@click.argument("name")
@json_option
def pin(name: str, as_json: bool) -> None:
    """Keep a run, named by its key, when older ones go to make room."""
    _pin(name, True, as_json)


@admin.command()
@click.argument("name")
@json_option
def unpin(name: str, as_json: bool) -> None:
    """Let a run go when room is needed and it is the oldest."""
    _pin(name, False, as_json)


@click.command()
@json_option
def settings(as_json: bool) -> None:
    """Every setting of a server: its value, where that comes from, what it means."""
    rows = setting_rows()
    if as_json:
        click.echo(to_json(rows))
        return
    for row in rows:
        value = (
            ", ".join(row["value"]) or "none"
            if isinstance(row["value"], tuple)
            else WITHOUT_LIMIT
            if row["value"] is None
            else row["value"]
        )
        click.echo(f"{row['name']} = {value}  ({row['from']})\n    {row['words']}")
