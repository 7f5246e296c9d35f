"""The blindfold for everything that leaves: two private data sets of one public shape (as many
users and items, one item set, bounds) differ in their ratings, in how many there are and in who is
among the users. With every statistic multiplied by zero and one key of the noise, whatever the
project exports of them is the same, but for the time.

`EXPORTS` is the table of what leaves; what is in neither it nor `STAYS` fails a test.
"""

import contextlib
import io
import json
import logging
import pickle
import re
import secrets
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

import dpmf
from dpmf import PrivateNMF, PrivateRecommender
from dpmf_core.cli import EXIT_BAD_INPUT, EXIT_OK, main, program
from dpmf_core.cli.run_store import find_stored
from dpmf_core.privacy.accounts import LEDGER
from dpmf_core.privacy.noise import Release
from dpmf_core.runs.notebook_views import html_of_privacy, html_of_run
from dpmf_core.runs.planning import account_of
from dpmf_core.runs.store import Store

USERS = 40
ITEMS = 12
TIME = re.compile(rb"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\+00:00|Z)?)?")


@dataclass
class Side:
    """One of two private data sets of one public shape, in a folder of its own."""

    folder: Path
    frame: pd.DataFrame
    log: list[str] = field(default_factory=list)

    @property
    def data(self):
        return f"{self.folder / 'ratings.csv'}?bounds=1,5&users={USERS}&items={ITEMS}"

    def say(self, words, code=EXIT_OK):
        """The standard output of a command; DATA, KEY and HERE stand for the side's own."""
        out = io.StringIO()
        err = io.StringIO()
        values = {"DATA": self.data, "HERE": str(self.folder)}
        if "KEY" in words:
            values["KEY"] = self.key
        for name, value in values.items():
            words = words.replace(name, value)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            result = main(words.split())
        assert result in (EXIT_OK, code), err.getvalue()
        return out.getvalue()

    @property
    def key(self):
        """Of the run that `fit` stored."""
        store = Store()
        return next(
            row["key"] for row in store.rows() if row["algorithm"] == "spectral"
        )


def table(seed, each, first):
    """Every item is rated, whatever the seed; the first lines are not as they should be."""
    rng = np.random.default_rng(seed)
    rows = []
    for user in range(USERS):
        for item in (user + np.arange(each + user % 3)) % ITEMS:
            stars = str(rng.integers(1, 6))
            rows.append((f"u{user:02}" if user else first, f"film{item:02}", stars))
    broken = [("u05", "film03", "?")] * (each - 5)
    return pd.DataFrame(rows + broken, columns=["user", "item", "rating"])


def images(side):
    return np.random.default_rng(len(side.frame)).random((30, 16))


def saved_model(side):
    folder = side.folder / "model"
    side.say(f"fit {SPECTRAL} --save HERE/model")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    with np.load(folder / "model.npz") as arrays:
        files["model.npz"] = b"".join(
            name.encode() + arrays[name].tobytes() for name in sorted(arrays)
        )
    return files


def recommender(side):
    """Pickled after it has forgotten the people whom it was fitted to."""
    frame = side.frame[side.frame["rating"] != "?"].astype({"rating": float})
    items = [f"film{item:02}" for item in range(ITEMS)]
    model = PrivateRecommender(
        epsilon=2.0, delta=1e-4, bounds=(1, 5), items=items, random_state=0
    )
    model.fit(frame[["user", "item"]], frame["rating"])
    return pickle.dumps(model.forget_people())


def nmf(side):
    model = PrivateNMF(2, epsilon=2.0, delta=1e-4, random_state=0).fit(images(side))
    return pickle.dumps(model)


def account_entries(side):
    account = account_of(side.data)
    assert account.entries
    return repr(account.entries) + repr(account) + account._repr_html_()


def shown_run(side):
    run = find_stored(side.key)
    of_record = repr(run.record) + html_of_privacy(run.record)
    return repr(run) + html_of_run(run) + of_record


def swept(side):
    result = dpmf.sweep(side.data, ["spectral", "als"], epsilons=[2.0], delta=1e-4)
    return result._repr_html_() + result.frame().to_json()


def command(words, code=EXIT_OK):
    """A command's JSON. code: EXIT_BAD_INPUT where it may be refused."""
    return lambda side: side.say(f"{words} --json", code)


def without_json(words):
    return lambda side: side.say(words)


def file(words, name):
    """What a command writes into the file that its last option names."""

    def written(side):
        side.say(f"{words} HERE/{name}")
        return (side.folder / name).read_bytes()

    return written


BUDGET = "--epsilon 2 --delta 1e-4"
SPECTRAL = f"--dataset DATA --algorithm spectral {BUDGET}"
SWEEP = "sweep --dataset DATA --algorithms spectral,als --epsilons 2 --delta 1e-4"
SEARCH = f"tune {SPECTRAL} --validation-fraction 0.2"
CHOICE = "choose --dataset DATA --each 6 --step 1 --spend 2 --delta 1e-4"
IMAGES = (
    f"--dataset HERE/images.mat --algorithm oneshot-nmf {BUDGET} --param n_components=2"
)
# in this order; a name begins with the command, and with the option where that writes a file
EXPORTS = {
    "fit": command(f"fit {SPECTRAL}"),
    "fit, no proof": command("fit --dataset DATA --algorithm als"),
    "fit, discrete": command(f"fit {SPECTRAL} --noise discrete"),
    "fit, items chosen": command(f"fit {SPECTRAL} --top-items 8"),
    "fit, images": command(f"fit {IMAGES}"),
    "fit --save": saved_model,
    "runs": command("runs"),
    "runs show": command("runs show KEY"),
    "runs export": command("runs export KEY"),
    "runs export, script": without_json("runs export KEY --script"),
    "runs export, notebook": without_json("runs export KEY --notebook"),
    "runs report --out": file("runs report KEY --out", "report.html"),
    "sweep": command(SWEEP),
    "sweep --out": file(f"{SWEEP} --noisy-errors 0.5 --out", "sweep.csv"),
    "tune": command(f"{SEARCH} --grid rank=1,2", code=EXIT_BAD_INPUT),
    "tune, private selection": command(
        f"{SEARCH} --vary rank=1:3 --private-selection --trials 2"
    ),
    "audit": command(
        "audit --dataset DATA --algorithm spectral --epsilon 1", code=EXIT_BAD_INPUT
    ),
    "choose": command(CHOICE),
    "choose --report": file(f"{CHOICE} --report", "choice.html"),
    "choose --notebook": file(f"{CHOICE} --notebook", "choice.ipynb"),
    "spent": command("spent DATA"),
    "spent, in words": without_json("spent DATA"),
    "spent --budget": command("spent DATA --budget 900 --delta 1e-4"),
    "spent --no-budget": command("spent DATA --no-budget"),
    "fit, stored, another ledger": command(
        f"fit {SPECTRAL} --ledger HERE/other.ledger"
    ),
    "spent, another ledger": command("spent DATA --ledger HERE/other.ledger"),
    "datasets import": command("datasets import ml-100k HERE/ratings.csv"),
    "import, in parts": command("datasets import mine DATA --partitioned"),
    "fit, in parts": command(f"fit --dataset mine --algorithm spectral {BUDGET}"),
    "datasets": command("datasets"),
    "pickle of PrivateRecommender": recommender,
    "pickle of PrivateNMF": nmf,
    "entries of the account": account_entries,
    "a run in a notebook": shown_run,
    "a sweep in a notebook": swept,
    "runs delete": lambda side: json.loads(command("runs delete KEY")(side)).keys(),
    "log": lambda side: "\n".join(side.log),
}
MACHINE = "says how this machine or its store is, to whoever keeps it"
TO_THE_HOLDER = (
    "says which rows of a file could be used, to whoever has the file; trains nothing"
)
NO_PRIVATE_DATA = "reads published and simulated data at most"
STAYS = {
    **dict.fromkeys(("runs pin", "runs check", "app"), MACHINE),
    **dict.fromkeys(
        ("account", "algorithms", "datasets fetch", "papers"), NO_PRIVATE_DATA
    ),
    **dict.fromkeys(("papers run", "papers run --out"), NO_PRIVATE_DATA),
    "check": TO_THE_HOLDER,
    "audit --out": "its table is of simulated data",
}


def commands(group, before=""):
    """Every command with its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        child = group.get_command(context, name)
        yield f"{before}{name}", child
        if isinstance(child, click.Group):
            yield from commands(child, f"{before}{name} ")


def test_every_command_that_exports_is_in_the_table():
    leaving = set()
    for name, child in commands(program):
        for parameter in child.params:
            if parameter.name == "as_json":
                leaving.add(name)
            elif _writes(parameter):
                leaving.add(f"{name} {parameter.opts[0]}")
    assert len(leaving) > 20
    assert leaving <= EXPORTS.keys() | STAYS.keys()


def _writes(parameter):
    """Whether it is an option that names a file to be written."""
    is_file = isinstance(parameter.type, click.Path) and not parameter.type.exists
    read = ("ledger", "config", "file", "item_table")
    return (
        is_file and isinstance(parameter, click.Option) and parameter.name not in read
    )


class LogLines(logging.Handler):
    """Keeps what the project logs, whole."""

    def __init__(self, lines):
        super().__init__(logging.INFO)
        self.lines = lines

    def emit(self, record):
        if record.name.startswith("dpmf"):
            self.lines.append(f"{record.name}: {record.getMessage()}")


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """What leaves of both sides, by name."""
    frames = {"one": table(1, 6, "u00"), "other": table(2, 8, "zoë")}
    sides = []
    for name, frame in frames.items():
        side = Side(tmp_path_factory.mktemp("exports") / name, frame)
        side.folder.mkdir()
        frame.to_csv(side.folder / "ratings.csv", index=False)
        savemat(side.folder / "images.mat", {"X": images(side)})
        with pytest.MonkeyPatch.context() as patch, logged(side.log):
            patch.setenv("DPMF_DATA", str(side.folder / "home"))
            patch.delenv("DPMF_CATALOGUE", raising=False)
            patch.delenv(LEDGER, raising=False)
            patch.setattr(Release, "_publish", lambda _, part, noise: 0 * part + noise)
            patch.setattr(secrets, "token_bytes", bytes)
            patch.setattr(secrets, "randbits", lambda bits: 5)
            sides.append(
                {export: as_bytes(make(side)) for export, make in EXPORTS.items()}
            )
    yield {name: (sides[0][name], sides[1][name]) for name in EXPORTS}


@contextlib.contextmanager
def logged(lines):
    handler = LogLines(lines)
    logging.getLogger().addHandler(handler)
    yield
    logging.getLogger().removeHandler(handler)


def as_bytes(export):
    """An export, without the times."""
    if isinstance(export, dict):
        parts = [
            name.encode() + b"\n" + as_bytes(part)
            for name, part in sorted(export.items())
        ]
        return b"\n".join(parts)
    if isinstance(export, bytes):
        content = export
    else:
        content = str(export).encode()
    return TIME.sub(b"TIME", content)


@pytest.mark.parametrize("name", EXPORTS)
def test_exports_of_two_data_sets_of_one_shape_are_alike(name, exports):
    one, other = exports[name]
    if one != other:
        pairs = enumerate(zip_longest(one, other))
        at = next(place for place, (here, there) in pairs if here != there)
        around = slice(max(at - 90, 0), at + 60)
        pytest.fail(f"{name} differs: {one[around]!r} and {other[around]!r}")
