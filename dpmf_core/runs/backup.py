"""One file that holds what a server has made: runs, answers of classes, journals of searches,
accounts of private data. Settings, imported data and a lesson key that was drawn are not in it.

It is a zip. Restoring adds what is missing and takes nothing away: a run that is here stays as it
is, and an account keeps every charge that either side knows, for what was drawn stays drawn.
"""

import contextlib
import json
import re
import zipfile
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dpmf_core.errors import BadInput
from dpmf_core.paths import create_folder, data_folder
from dpmf_core.privacy import account_backup, account_files
from dpmf_core.runs import artefacts
from dpmf_core.runs.artefacts import ENDING, NAME, Unreadable
from dpmf_core.runs.store import DamagedRun, Store

LAYOUT = 1
HEAD, ACCOUNTS = "backup.json", "accounts.json"
RUNS = "runs/"
FOLDERS = ("lessons", "classes", "tune")  # of plain files; each name is a file in its folder
PLAIN = re.compile(rf"(?:{'|'.join(FOLDERS)})/[A-Za-z0-9_-][A-Za-z0-9_.-]*")
RUN = re.compile(rf"{RUNS}({NAME.pattern}){re.escape(ENDING)}")


@dataclass(frozen=True)
class Backup:
    """What a backup holds. problems: what was left out and why, in sentences."""

    runs: int
    files: int
    accounts: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class RestoreResult:
    """What a restore added. known: runs that were here already; sentences: about accounts."""

    runs: int
    known: int
    files: int
    sentences: tuple[str, ...]


def back_up(file: Path) -> Backup:
    """Write the backup; servers may go on meanwhile. The file is there in whole or not at all.

    Raises BadInput where it exists already or cannot be written.
    """
    if file.exists():
        raise BadInput(f"{file} exists already; a backup never replaces a file. Give another name.")
    if not file.absolute().parent.is_dir():
        raise BadInput(f"There is no folder {file.absolute().parent}. Make it first.")
    aside = file.with_name(f"{file.name}.part")
    store = Store()
    try:
        _create_own_file(aside)
        with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as whole:
            result = _write(whole, store)
        with aside.open("rb+") as stream:
            artefacts.flush(stream)
        aside.replace(file)
        artefacts.flush_folder(file.absolute().parent)
    except OSError as error:
        raise BadInput(
            f"The backup {file} cannot be written ({error}); nothing is left of it."
        ) from error
    finally:
        store.close()
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
    return result


def _create_own_file(path: Path) -> None:
    """A new file that its user alone can read: it holds what was drawn on private data."""
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)


def _write(whole: zipfile.ZipFile, store: Store) -> Backup:
    problems, runs, files = [], 0, 0
    for key in store.run_keys():
        try:
            stored_run = store.stored_run(key)
        except DamagedRun as error:
            problems.append(str(error))
            continue
        if stored_run is not None:  # else it was deleted meanwhile
            content = artefacts.pack(stored_run.run, stored_run.label)
            whole.writestr(f"{RUNS}{artefacts.name_of(content)}{ENDING}", content)
            runs += 1
    for folder in FOLDERS:
        for path in sorted((data_folder() / folder).glob("*")):
            if path.is_file() and PLAIN.fullmatch(name := f"{folder}/{path.name}"):
                whole.writestr(name, path.read_bytes())
                files += 1
    copy = account_backup.account_copies(data_folder() / account_files.FILE)
    whole.writestr(ACCOUNTS, json.dumps(copy))
    head = {"layout": LAYOUT, "made": datetime.now(UTC).isoformat(), "runs": runs, "files": files}
    whole.writestr(HEAD, json.dumps(head))
    return Backup(runs, files, len(copy), tuple(problems))


def restore(file: Path) -> RestoreResult:
    """Add what a backup holds and this data folder lacks. All of it is checked before anything is
    written.

    Raises BadInput on a file that is no whole backup, and where the data folder refuses.
    """
    try:
        with zipfile.ZipFile(file) as whole:
            copy = _checked_accounts(whole)
            return _add(whole, copy)
    except (zipfile.BadZipFile, EOFError, Unreadable, zlib.error) as error:
        raise _no_backup(file, str(error)) from error
    except OSError as error:
        raise BadInput(
            f"The backup {file} cannot be restored ({error}). Run the same command again when that"
            " is mended: it goes on."
        ) from error


def _no_backup(file: Path, reason: str) -> BadInput:
    return BadInput(
        f"{file} is no whole backup ({reason}); nothing was changed. Give a file that `runs backup"
        " FILE` wrote."
    )


def _checked_accounts(whole: zipfile.ZipFile) -> list[Any]:
    """The accounts of a backup, every part of which was read. Raises Unreadable, BadZipFile."""
    head, copy = _json(whole, HEAD), _json(whole, ACCOUNTS)
    if not isinstance(head, dict) or head.get("layout") != LAYOUT:
        raise Unreadable(
            f"its layout is {head.get('layout') if isinstance(head, dict) else None}; this version"
            f" reads {LAYOUT}"
        )
    try:
        account_backup.check_copy(copy)
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"its accounts cannot be read: {error}") from error
    names = set(whole.namelist()) - {HEAD, ACCOUNTS}
    if strange := [name for name in names if not RUN.fullmatch(name) and not PLAIN.fullmatch(name)]:
        raise Unreadable(f"it holds {min(strange)!r}, which is no part of a backup")
    for name in names:
        content = whole.read(name)
        if match := RUN.fullmatch(name):
            if artefacts.name_of(content) != match[1]:
                raise Unreadable(f"{name} is not what was written")
            artefacts.unpack(content)
    if sum(bool(RUN.fullmatch(name)) for name in names) != head.get("runs"):
        raise Unreadable("runs are missing")
    return list(copy)


def _json(whole: zipfile.ZipFile, name: str) -> Any:
    try:
        return json.loads(whole.read(name))
    except KeyError:
        raise Unreadable(f"it holds no {name}") from None
    except ValueError as error:
        raise Unreadable(f"{name} cannot be read: {error}") from error


def _add(whole: zipfile.ZipFile, copy: list[Any]) -> RestoreResult:
    """Accounts first: whatever cuts a restore, what was spent is charged."""
    sentences = account_backup.merge(data_folder() / account_files.FILE, copy)
    names = sorted(set(whole.namelist()) - {HEAD, ACCOUNTS})
    runs = [name for name in names if RUN.fullmatch(name)]
    store = Store()
    try:
        new = sum(store.take(artefacts.unpack(whole.read(name))) for name in runs)
    finally:
        store.close()
    files = sum(
        _file_added(data_folder() / name, whole.read(name))
        for name in names
        if PLAIN.fullmatch(name)
    )
    return RestoreResult(new, len(runs) - new, files, tuple(sentences))


def _file_added(path: Path, content: bytes) -> bool:
    if path.exists():
        return False
    create_folder(path.parent)
    artefacts.write(path, content)
    return True
