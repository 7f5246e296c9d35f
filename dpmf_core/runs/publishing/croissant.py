"""Published or simulated ratings as a folder with Croissant metadata (MLCommons, version 1.0),
which data set tools read.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpmf_core import __version__
from dpmf_core.data import AnyData
from dpmf_core.data.catalogue import DatasetFacts
from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput
from dpmf_core.paths import write_whole
from dpmf_core.runs.publishing.saving import require_free

TABLE, METADATA = "ratings.csv", "croissant.json"
OWN_NAMES = (
    "citeAs column conformsTo extract field fileProperty fileObject fileSet format includes"
    " isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace"
    " samplingRate separator source subField transform equivalentProperty"
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    **{name: f"cr:{name}" for name in OWN_NAMES.split()},
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
}
WORDS = {
    "user": "who rated",
    "item": "what was rated",
    "rating": "the rating, from {low:g} to {high:g}",
    "time": "when, or in which order of the user's own ratings",
}


def write(entry: DatasetFacts, data: AnyData, folder: str | Path) -> Path:
    """Writes the ratings as a table, and what they are as JSON-LD, into a new folder.

    Raises BadInput on private data, on others than ratings in one memory, and where the folder is
    taken.
    """
    if not data.public:
        raise BadInput(
            f"{entry.id} is private data: writing it out with metadata would publish it. Only"
            " published and simulated ratings are written."
        )
    if not isinstance(data, Ratings):
        raise BadInput(
            f"{entry.id} is no set of ratings in one memory, and those alone are written. `dpmf"
            " datasets` lists them with their numbers of ratings."
        )
    place = require_free(folder)
    table = _table(data).to_csv(index=False, lineterminator="\n").encode()
    document = metadata(entry, data, hashlib.sha256(table).hexdigest())
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        raise BadInput(f"{place} cannot be made ({error.strerror}).") from error
    write_whole(place / TABLE, table)
    write_whole(place / METADATA, json.dumps(document, indent=1, ensure_ascii=False))
    return place


def metadata(entry: DatasetFacts, ratings: Ratings, sha256: str) -> dict[str, Any]:
    """What the folder holds, as JSON-LD has it. sha256: of the table."""
    low, high = ratings.bounds
    table = {
        "@type": "cr:FileObject",
        "@id": TABLE,
        "name": TABLE,
        "description": "A rating a row.",
        "contentUrl": TABLE,
        "encodingFormat": "text/csv",
        "sha256": sha256,
    }
    records = {
        "@type": "cr:RecordSet",
        "@id": "ratings",
        "name": "ratings",
        "key": [{"@id": "ratings/user"}, {"@id": "ratings/item"}],
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"ratings/{name}",
                "name": name,
                "description": WORDS[name].format(low=low, high=high),
                "dataType": kind,
                "source": {"fileObject": {"@id": TABLE}, "extract": {"column": name}},
            }
            for name, kind in _kinds(ratings).items()
        ],
    }
    home = {"url": entry.home} if entry.home.startswith("http") else {}
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": entry.id,
        "description": f"{entry.title}. {entry.words}",
        "license": entry.licence,
        "citeAs": entry.citation,
        "version": __version__,
        **home,
        "distribution": [table],
        "recordSet": [records],
    }


def _kinds(ratings: Ratings) -> dict[str, str]:
    item_kind = "sc:Text" if ratings.labels else "sc:Integer"
    kinds = {"user": "sc:Integer", "item": item_kind, "rating": "sc:Float"}
    return kinds if ratings.order is None else {**kinds, "time": "sc:Integer"}


def _table(ratings: Ratings) -> pd.DataFrame:
    items: Any = ratings.items
    if ratings.labels:
        items = np.array(ratings.labels, object)[ratings.items]
    table = pd.DataFrame({"user": ratings.users, "item": items, "rating": ratings.values})
    return table if ratings.order is None else table.assign(time=ratings.order)
