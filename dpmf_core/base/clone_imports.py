"""Import data sets in a clone without symbolic links, as on Windows.

There git writes the link `dpmf_datasets` as a file; the data sets are in the folder `datasets` next
to `app.py`.
"""

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

NAME, FOLDER = "dpmf_datasets", "datasets"


class _BesideTheApp(MetaPathFinder):
    """Finds the package of data sets in a clone by its installed name."""

    def __init__(self, clone: Path) -> None:
        self.clone = clone

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        folder = self.clone / FOLDER
        # next to an installed dpmf there may be another package with this folder's name
        if fullname != NAME or not (self.clone / "app.py").is_file() or not folder.is_dir():
            return None
        return importlib.util.spec_from_file_location(
            NAME, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )


def install() -> None:
    """Look there last: an installed package and a link come first."""
    sys.meta_path.append(_BesideTheApp(Path(__file__).parents[2]))
