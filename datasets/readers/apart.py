"""Reading one open file in a child process, which a damaged or hostile file may end."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from dpmf_datasets import sandbox


@contextmanager
def in_child(
    task: Callable[..., Any], stream: BinaryIO, name: str, argument: Any
) -> Iterator[tuple[Any, Path]]:
    """The result of a task, and the file that it wrote, inside the block.

    Parameters
    ----------
    task : callable
        A function at module level. It gets the path of a copy of the file, the file's name, the
        argument and the path of the file to write.
    stream : binary file
        The file to copy.
    name : str
        The name of the file.
    argument : JSON value
        The argument of the task.

    Raises
    ------
    BadInput
        If the task raises it, or if the child fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        target = Path(folder, "target")
        with copy.open("wb") as file:
            shutil.copyfileobj(stream, file)
        limits = sandbox.OWN_MACHINE
        yield (
            sandbox.read(
                task, name, str(copy), name, argument, str(target), limits=limits
            ),
            target,
        )
