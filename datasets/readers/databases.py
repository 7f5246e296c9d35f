"""A table of a database by its SQLAlchemy address, for the command line and Python only."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from dpmf_core.base.errors import BadInput, closest, listing, quoted, shortened
from dpmf_core.base.extras import extra
from dpmf_datasets.readers.table import Table

SQLITE = b"SQLite format 3\0"  # the first bytes of such a file


def is_sqlite(path: Path) -> bool:
    """Whether a file is a database of SQLite."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def file_of(address: str) -> Path | None:
    """The file of an SQLite database; None for others."""
    match = re.match(r"sqlite(?:\+\w+)?:///(.+)", address)
    if match:
        return Path(match[1])
    return None


def read(address: str, options: Mapping[str, str], table: str | None) -> Table:
    """Read a whole table or view, in a read-only transaction if the database has that.

    Parameters
    ----------
    address : str
        The address of the database, such as ``sqlite:///ratings.db``.
    options : mapping of str to str
        The options of the database's driver.
    table : str or None
        The name of the table; optional if the database has only one.

    Returns
    -------
    Table
        The table or view.

    Raises
    ------
    BadInput
        If the database cannot be read.
    """
    with extra("files"):  # needed for databases only
        import sqlalchemy
        from sqlalchemy.exc import SQLAlchemyError

    try:
        url = sqlalchemy.make_url(
            f"{address}?{urlencode(options)}" if options else address
        )
        _check(url, address)
        engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool)
        with engine.connect() as connection:
            if url.get_backend_name() == "postgresql":
                connection.execution_options(postgresql_readonly=True)
            return _read_table(connection, address, table)
    except (SQLAlchemyError, ImportError) as error:
        first_line = shortened(str(error).partition("\n")[0].strip().rstrip("."), 200)
        raise BadInput(
            f"'{address[:80]}' cannot be read as a database: {first_line}. Give an address such as"
            " 'sqlite:///ratings.db?table=ratings&bounds=1,5', and check your permission; other"
            " databases need their driver installed."
        ) from None


def _check(url: Any, address: str) -> None:
    if url.password is not None:
        raise BadInput(
            "A password in the address would be stored with every run. Leave it out of the address"
            " and give it to the driver, e.g. by PGPASSWORD or ~/.pgpass for PostgreSQL."
        )
    file = file_of(address)
    if file is not None and not is_sqlite(file):
        raise BadInput(
            f"There is no SQLite database at {file.name}. 'sqlite:///ratings.db' is in the current"
            " folder, 'sqlite:////data/ratings.db' is at /data/ratings.db."
        )


def _read_table(connection: Any, address: str, table: str | None) -> Table:
    import sqlalchemy

    from dpmf_datasets.readers.arrow_tables import table_of_rows

    inspector = sqlalchemy.inspect(connection)
    names = [*inspector.get_table_names(), *inspector.get_view_names()]
    if table is None and len(names) == 1:
        table = names[0]
    if table is None or table not in names:
        problem = "several tables."
        if table:
            problem = f"no table {quoted(table)}.{closest(table, names)}"
        if names:
            example = f" E.g. '{address}?table={names[0]}&bounds=1,5'."
        else:
            example = ""
        raise BadInput(
            f"The database has {problem if names else 'no table.'} Its tables and views:"
            f" {listing(names) or 'none'}.{example}"
        )
    sql_table = sqlalchemy.Table(table, sqlalchemy.MetaData(), autoload_with=connection)
    if connection.dialect.name == "sqlite":  # its columns may hold values of any type
        connection.connection.driver_connection.text_factory = bytes
    # each cell as stored: one that has not its column's type would refuse the whole table
    raw = [
        sqlalchemy.type_coerce(column, sqlalchemy.types.NullType()).label(column.name)
        for column in sql_table.columns
    ]
    result = connection.execution_options(stream_results=True).execute(
        sqlalchemy.select(*raw)
    )
    columns = list(result.keys())
    rows = table_of_rows(columns, result, f"of the table {quoted(table)} of a database")
    batches = list(rows.batches(range(len(columns))))  # while the connection is open

    def read(places: Sequence[int]) -> Iterator[list[Any]]:
        for batch in batches:
            yield [batch[place] for place in places]

    return replace(rows, batches=read)
