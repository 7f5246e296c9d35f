"""Where data sets are found in a clone whose link `dpmf_datasets` is no link, as git writes it on
Windows: in the folder `datasets` beside `app.py`.
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
    """Finds the package of data sets in a clone, by the name that it has when it is installed."""

    def __init__(self, clone: Path) -> None:
        self.clone = clone

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        folder = self.clone / FOLDER
        # another package of this folder's name may lie beside an installed dpmf
        if fullname != NAME or not (self.clone / "app.py").is_file() or not folder.is_dir():
            return None
        return importlib.util.spec_from_file_location(
            NAME, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )


def install() -> None:
    """Look there last: an installed package and a link come first."""
    sys.meta_path.append(_BesideTheApp(Path(__file__).parents[2]))
