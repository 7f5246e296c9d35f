"""What the facts of an address say to the readers of files, and which files it names."""

import os
from pathlib import Path

from dpmf_core.data.addresses import is_database, path_of, split
from dpmf_core.data.facts import ITEM_TABLE, STOP_WORDS
from dpmf_datasets.readers import databases

UPLOADS = "dpmf-uploads-"  # the first part of the name of the uploads' folder


def files_of(id_or_path: str) -> tuple[Path, ...]:
    """The files that a path and its facts name; a language of stop words is not a file."""
    place, facts = split(id_or_path)
    if is_database(place):
        file = databases.file_of(place)
        if file:
            return (file,)
        return ()
    others = [
        path_of(facts[name]) for name in (ITEM_TABLE, STOP_WORDS) if name in facts
    ]
    return (path_of(place), *others)


def is_own(data_id: str) -> bool:
    """Whether a data set's id is the path of a file."""
    return UPLOADS in data_id and any(
        part.startswith(UPLOADS) for part in Path(os.path.normpath(data_id)).parts[:-3]
    )
