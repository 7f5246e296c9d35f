"""`completion`: what a shell needs to complete commands and options."""

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

SHELLS: dict[str, type[ShellComplete]] = {
    kind.name: kind for kind in (BashComplete, FishComplete, ZshComplete)
}


@click.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
def completion(shell: str) -> None:
    """A script on standard output that lets SHELL complete what follows `dpmf`.

    The shell has to read it: eval "$(dpmf completion bash)".
    """
    from dpmf_core.cli import program

    click.echo(SHELLS[shell](program, {}, "dpmf", "_DPMF_COMPLETE").source())
