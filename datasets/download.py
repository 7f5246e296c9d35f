"""Official archives, fetched once: the licence is shown first, and what does not match its
published checksum is not kept.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dpmf_core.data.catalogue import DatasetFacts
from dpmf_core.errors import BadInput
from dpmf_core.paths import cache_folder, usable, workplace

Progress = Callable[[int, int], None]


class _Bar:
    """What pooch asks of a progress bar, told to a function of (bytes done, bytes in all)."""

    def __init__(self, tell: Progress) -> None:
        self._tell, self._received_bytes, self.total = tell, 0, 0

    def update(self, amount: int) -> None:
        self._received_bytes += amount
        self._tell(self._received_bytes, self.total)

    def reset(self) -> None:
        """pooch ends with a full bar: back to 0, then all at once."""
        self._received_bytes = 0

    def close(self) -> None:
        """Nothing is held open."""


def terms(entry: DatasetFacts) -> str:
    """What a person agrees to before a download."""
    return (
        f"{entry.title} ({entry.size_mb:g} MB, {entry.home})\nTerms: {entry.licence}\nCite:"
        f" {entry.citation}"
    )


@contextmanager
def official_archive(
    entry: DatasetFacts,
    url: str,
    md5: str,
    *,
    accept_licence: bool,
    progress: Progress | bool = False,
) -> Iterator[Path]:
    """The official archive, for as long as the block lasts.

    Raises BadInput when the terms are not accepted, the network or the checksum fails.
    """
    if not accept_licence:
        raise BadInput(
            f"{terms(entry)}\nNothing was downloaded. If you accept these terms, repeat the command"
            " with --accept-licence."
        )
    bar = progress if isinstance(progress, bool) else _Bar(progress)
    usable(cache_folder())
    with tempfile.TemporaryDirectory(dir=workplace(cache_folder()), prefix="download-") as aside:
        yield _retrieve(entry, url, md5, aside, bar)


def _retrieve(entry: DatasetFacts, url: str, md5: str, folder: str, bar: "_Bar | bool") -> Path:
    import pooch  # with all that it takes to download, which no other use of the data waits for
    import requests

    # the temporary place it would name is of no use to anyone
    pooch.get_logger().setLevel("WARNING")
    file = f"{entry.id}.zip"
    elsewhere = (
        f"Download {url} in another way and run `python -m dpmf_core import {entry.id} PATH`."
    )
    try:
        return Path(
            pooch.retrieve(
                url,
                f"md5:{md5}",
                fname=file,
                path=folder,
                downloader=pooch.HTTPDownloader(progressbar=bar, timeout=30),
            )
        )
    except requests.RequestException as error:
        raise BadInput(
            f"{entry.title} could not be downloaded from {url} ({type(error).__name__}). Check the"
            f" network. {elsewhere}"
        ) from error
    except ValueError as error:  # pooch's word for a checksum that differs; it has removed the file
        raise BadInput(
            f"The file at {url} does not have the published checksum (md5 {md5}). Nothing was kept."
            f" Try again later. {elsewhere}"
        ) from error
