"""Ratings from a real PostgreSQL, started for the test."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from dpmf import load

DRIVER = "psycopg"
ROWS = [(u, f"film {i}", 1 + (u * i) % 5) for u in range(1, 41) for i in range(1, 21)]


def _program(name):
    """A program of PostgreSQL, also where Debian keeps it."""
    beside = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(beside[-1]) if beside else None)


def _as_server(folder):
    """Whom the server runs as, who owns the folder: PostgreSQL refuses to be root."""
    if os.geteuid() != 0:
        return {}
    import pwd

    try:
        owner = pwd.getpwnam("postgres")
    except KeyError:
        owner = pwd.getpwnam("nobody")
    os.chown(folder, owner.pw_uid, owner.pw_gid)
    return {"user": owner.pw_uid, "group": owner.pw_gid}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a database `films` with a table and a view of ratings."""
    psycopg = pytest.importorskip(
        DRIVER, reason="no driver for PostgreSQL: pip install psycopg"
    )
    initdb = _program("initdb")
    control = _program("pg_ctl")
    if initdb is None or control is None:
        pytest.skip("PostgreSQL is not installed: its initdb and pg_ctl are not found")
    folder = Path("/tmp") / f"dpmf-postgresql-{os.getpid()}"  # a socket's path is short
    folder.mkdir()
    whom = _as_server(folder)
    data = folder / "data"
    listen = f"-k {folder} -c listen_addresses='' -c fsync=off"
    try:
        kind = ("-U", "me", "-A", "trust", "-E", "UTF8", "--locale=C")
        command = [initdb, "--no-sync", "-D", str(data), *kind]
        subprocess.run(command, check=True, capture_output=True, cwd=folder, **whom)
        start = [
            control,
            "-D",
            str(data),
            "-w",
            "-l",
            str(folder / "log"),
            "-o",
            listen,
            "start",
        ]
        subprocess.run(start, check=True, stdout=subprocess.DEVNULL, cwd=folder, **whom)
        try:
            place = {
                "host": str(folder),
                "user": "me",
                "autocommit": True,
            }
            with psycopg.connect(dbname="postgres", **place) as db:
                db.execute("CREATE DATABASE films")
            with psycopg.connect(dbname="films", **place) as db:
                db.execute(
                    "CREATE TABLE seen (user_id int, item_id text, rating numeric)"
                )
                with db.cursor() as cursor:
                    cursor.executemany("INSERT INTO seen VALUES (%s, %s, %s)", ROWS)
                db.execute("CREATE VIEW good AS SELECT * FROM seen WHERE rating >= 3")
            yield f"postgresql+{DRIVER}://me@/films?host={folder}"
        finally:
            stop = [control, "-D", str(data), "-m", "immediate", "stop"]
            subprocess.run(
                stop, check=True, stdout=subprocess.DEVNULL, cwd=folder, **whom
            )
    finally:
        shutil.rmtree(folder)


def test_a_table_is_read_as_it_was_written(server):
    ratings = load(f"{server}&table=seen&bounds=1,5")
    assert ratings.n_users == 40
    assert ratings.n_items == 20
    assert len(ratings) == 800
    rows = {
        (int(u) + 1, ratings.labels[i], float(r))
        for u, i, r in zip(ratings.users, ratings.items, ratings.values, strict=True)
    }
    assert rows == {(u, item, float(r)) for u, item, r in ROWS}
