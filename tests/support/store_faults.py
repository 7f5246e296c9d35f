"""Every system call of the store fails once, or is the last one; afterwards a fresh process looks.

Run with the library of `faults.c` loaded: `python -m tests.support.store_faults LIBRARY FOLDER
EVERY [OPERATION...]`.
Prints JSON: for each operation how many points were tried in each mode, and what went wrong.
"""

import ctypes
import errno
import json
import os
import shutil
import sqlite3
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpmf_core.errors import BadInput
from dpmf_core.privacy import account_files
from dpmf_core.privacy.accounts import Account
from dpmf_core.runs.store import Store
from tests.privacy.test_accounts import CHARGE
from tests.runs.test_store import old_file, small_run

COUNT, ONCE, FROM_THEN_ON, KILL, TEAR = range(5)
MODES = {
    "EIO once": (ONCE, errno.EIO),
    "ENOSPC from then on": (FROM_THEN_ON, errno.ENOSPC),
    "killed": (KILL, 0),
    "killed in mid-write": (TEAR, 0),
}
SUCCESS, REFUSAL, FAULT, KILL_CODE = 0, 1, 2, 77
State = dict[str, tuple[float, str]]  # by key: what its arrays hold, its note


@dataclass(frozen=True)
class Operation:
    """prepare: makes the folder; act: what is tried, on a store or, where it opens one itself, on
    the folder.

    before, after: what the store holds without and with it.
    """

    prepare: Callable[[Path], None]
    act: Callable[[Any], object]
    before: State
    after: State
    opens: bool = False  # act is given the folder


TWO: State = {"a": (1.0, ""), "b": (2.0, "mine")}


def two(folder: Path) -> None:
    store = Store(folder)
    store.put(small_run("a", fill=1.0))
    store.put(small_run("b", fill=2.0))
    store.annotate("b", "mine", "")
    store.close()


def older(folder: Path) -> None:
    for name, fill in (("a", 1.0), ("bb", 2.0)):
        run = small_run(name, fill=fill)
        old_file(folder / "runs" / "artefacts", name, run, created="2026-01-01", note=f"of {name}")


def open_store(folder: Path) -> None:
    Store(folder).close()


OLDER: State = {"a": (1.0, "of a"), "bb": (2.0, "of bb")}
TWO_AND_C: State = {**TWO, "c": (3.0, "")}
OPERATIONS = {
    "put": Operation(two, lambda store: store.put(small_run("c", fill=3.0)), TWO, TWO_AND_C),
    "replace": Operation(
        two, lambda store: store.put(small_run("b", fill=4.0)), TWO, TWO | {"b": (4.0, "mine")}
    ),
    "annotate": Operation(
        two, lambda store: store.annotate("a", "new", ""), TWO, TWO | {"a": (1.0, "new")}
    ),
    "delete": Operation(two, lambda store: store.delete("a"), TWO, {"b": TWO["b"]}),
    "open": Operation(two, open_store, TWO, TWO, opens=True),
    "takeover": Operation(older, open_store, OLDER, OLDER, opens=True),
}


def in_a_child(act: Callable[[], int]) -> tuple[int, str]:
    """Exit code and last words of a function in a process of its own."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        os.close(reading)
        status = FAULT
        try:
            status = act()
        except BaseException:
            os.write(writing, traceback.format_exc().encode()[-3000:])
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as words:
        text = words.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text


def attempt_with_fault(
    library: Any, operation: Operation, folder: Path, how: tuple[int, int], at: int
) -> int:
    """One attempt with one fault; a process that survives must be able to go on."""
    mode, code = how
    target = folder if operation.opens else Store(folder)
    library.faults_arm(str(folder).encode(), mode, ctypes.c_long(at), code)
    try:
        operation.act(target)
        status = SUCCESS
    except (BadInput, OSError, sqlite3.Error):
        status = REFUSAL
    library.faults_disarm()
    if mode == COUNT:
        (folder.parent / "calls").write_text(str(library.faults_calls()))
        return status
    if isinstance(target, Store):
        target.put(small_run("later", fill=9.0))
        target.close()
    else:
        open_store(folder)
    return status


def check_store(operation: Operation, folder: Path, status: int) -> int:
    """What a fresh process finds; raises AssertionError where it is wrong."""
    store = Store(folder)
    assert (problems := store.check()) == [], problems
    state = {}
    for row in store.rows():
        run = store.get(row["key"])
        assert run is not None
        state[row["key"]] = (float(run.arrays["item_offsets"][0]), row["note"])
    state.pop("later", None)
    fitting = [operation.after] if status == SUCCESS else _between(operation)
    assert state in fitting, f"status {status}: {state}"
    return SUCCESS


def _between(operation: Operation) -> list[State]:
    """What may be there after an operation that did not end: without it, with it, or with the
    first of several runs.
    """
    before, after = operation.before, operation.after
    new = [key for key in after if key not in before]
    return [
        before,
        after,
        *({**before, **{key: after[key] for key in new[:many]}} for many in range(1, len(new))),
    ] + [{**before, key: after[key]} for key in new]


def charge_with_fault(library: Any, folder: Path, how: tuple[int, int], at: int) -> int:
    """A charge of an account: whoever was given leave to draw finds it there afterwards."""
    mode, code = how
    account = Account(folder / account_files.FILE, "data")
    library.faults_arm(str(folder).encode(), mode, ctypes.c_long(at), code)
    try:
        with account.reserve(CHARGE):
            os.close(os.open(folder.parent / "leave", os.O_CREAT | os.O_WRONLY))
        status = SUCCESS
    except BadInput:
        status = REFUSAL
    library.faults_disarm()
    if mode == COUNT:
        (folder.parent / "calls").write_text(str(library.faults_calls()))
    return status


def check_charge(folder: Path, before: int) -> int:
    count = len(Account(folder / account_files.FILE, "data").entries)
    leave = (folder.parent / "leave").exists()
    assert count >= before, "a charge was lost"
    assert not leave or count == before + 1, "leave to draw was given and is not charged"
    return SUCCESS


def points(library: Any, name: str, base: Path, every: int) -> tuple[dict[str, int], list[str]]:
    """Every system call of an operation in every mode: how many were hit, and what was wrong
    after which.
    """
    template, work = base / f"{name}-template", base / f"{name}-work"
    folder = work / "data"
    os.environ["DPMF_DATA"] = str(folder)
    shutil.copytree(_template(name, template, folder), folder)
    attempt, look = _acts(library, name, folder)
    code, text = in_a_child(lambda: attempt((COUNT, 0), 0))
    assert code == SUCCESS, text
    calls = int((work / "calls").read_text())
    hits: dict[str, int] = {}
    wrong = []
    for mode, how in MODES.items():
        for at in range(1, calls + 1, every):
            shutil.rmtree(work)
            shutil.copytree(template, folder)
            code, text = in_a_child(lambda how=how, at=at: attempt(how, at))
            hits[mode] = hits.get(mode, 0) + (how[0] in (ONCE, FROM_THEN_ON) or code == KILL_CODE)
            if code not in (SUCCESS, REFUSAL, KILL_CODE):
                wrong.append(f"{name}, {mode}, call {at} of {calls}: {text}")
            code, text = in_a_child(lambda code=code: look(code))
            if code != SUCCESS:
                wrong.append(f"{name}, {mode}, call {at} of {calls}, looked at afterwards: {text}")
    shutil.rmtree(work)
    return {"calls": calls, **hits}, wrong


def _template(name: str, template: Path, folder: Path) -> Path:
    """The folder to begin with, made where it will be used and moved away."""

    def prepare() -> int:
        folder.mkdir(parents=True)
        if name == "charge":
            with Account(folder / account_files.FILE, "data").reserve(CHARGE):
                pass
        else:
            OPERATIONS[name].prepare(folder)
        return SUCCESS

    code, text = in_a_child(prepare)
    assert code == SUCCESS, text
    folder.rename(template)
    return template


def _acts(
    library: Any, name: str, folder: Path
) -> tuple[Callable[[tuple[int, int], int], int], Callable[[int], int]]:
    if name == "charge":
        before = 1 if (folder / account_files.FILE).exists() else 0
        return lambda how, at: charge_with_fault(library, folder, how, at), lambda _: check_charge(
            folder, before
        )
    operation = OPERATIONS[name]
    return lambda how, at: attempt_with_fault(
        library, operation, folder, how, at
    ), lambda status: check_store(operation, folder, status)


def main(library: str, base: str, every: str, *names: str) -> None:
    faults = ctypes.CDLL(library)
    faults.faults_calls.restype = ctypes.c_long
    point_counts, wrong = {}, []
    for name in names or (*OPERATIONS, "charge"):
        point_counts[name], more = points(faults, name, Path(base), int(every))
        wrong += more
    print(json.dumps({"points": point_counts, "wrong": wrong}))


if __name__ == "__main__":
    main(*sys.argv[1:])
