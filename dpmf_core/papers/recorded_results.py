"""Measured results of claims, stored as one file for each claim.

Recorded results are shipped; results of this machine are in its data folder.
"""

import functools
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    ValidationError,
    field_serializer,
    field_validator,
)

from dpmf_core import __version__
from dpmf_core.base.paths import create_folder, data_folder, write_whole
from dpmf_core.papers.figures import Claim, Figure, Verdict
from dpmf_core.runs.measurements import Measured

RECORDED_FOLDER = Path(__file__).parent / "recorded"
IN_FILE = ("label", "algorithm", "epsilon", "grid", "draws")  # of each summary
# how earlier versions began the data in words
SIZE = re.compile(r"^(Full|Page) size(, on )?")


class ClaimResult(BaseModel):
    """The measured results of a claim. The verdict follows from them; it is not stored.

    Files of earlier versions also hold a size.

    Attributes
    ----------
    claim
        The id of the claim.
    on
        The data in words.
    stands_in
        What replaces the source's data or settings; '' if nothing does.
    measured
        The results.
    created
        The time in UTC, in ISO 8601.
    version
        The version of the package.
    seconds
        The time of all its runs in sequence.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    claim: str
    on: str
    stands_in: str = ""
    measured: tuple[Measured, ...]
    created: str
    version: str
    seconds: float | None = None

    @field_validator("on")
    @classmethod
    def _without_size(cls, text: str) -> str:
        return SIZE.sub("", text).removesuffix(".")

    @field_serializer("measured")
    def _in_file(self, measured: tuple[Measured, ...]) -> list[dict[str, Any]]:
        return [
            {name: getattr(result, name) for name in IN_FILE} for result in measured
        ]

    def verdict(self, claim: Claim) -> Verdict:
        """What the stored draws say of the claim as it is stated now."""
        return replace(claim.judge(self.measured, self.obstacle(claim)), on=self.on)

    def obstacle(self, claim: Claim) -> str:
        """Why these runs cannot judge the claim; '' if they can."""
        return claim.obstacle(self.stands_in)


def result(
    claim: Figure, results: list[Measured], seconds: float | None = None
) -> ClaimResult:
    """These results of a claim, ready to store."""
    return ClaimResult(
        claim=claim.id,
        on=claim.data(),
        stands_in=claim.stands_in(),
        measured=tuple(
            replace(
                result,
                draws=tuple(float(f"{draw:.7g}") for draw in result.draws),
                seeds=(),
            )
            for result in results
        ),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        seconds=None if seconds is None else round(seconds, 1),
    )


def own_folder() -> Path:
    """The folder of this machine's results."""
    return data_folder() / "papers"


def save(claim_result: ClaimResult, folder: Path | None = None) -> Path:
    """Store a result, replacing an older one of the same claim. Raises BadInput."""
    path = create_folder(folder or own_folder()) / f"{claim_result.claim}.json"
    text = json.dumps(
        claim_result.model_dump(mode="json"), indent=1, ensure_ascii=False
    )
    write_whole(path, f"{text}\n")
    return path


def load(claim_id: str, folder: Path) -> ClaimResult | None:
    """A stored result, or None if this version cannot read it."""
    path = folder / f"{claim_id}.json"
    try:
        stamp = path.stat().st_mtime_ns
    except OSError:
        return None
    return _read(path, stamp)


@functools.lru_cache(maxsize=512)
def _read(path: Path, stamp: int) -> ClaimResult | None:
    try:
        return ClaimResult.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def recorded_result(claim_id: str) -> ClaimResult | None:
    """The shipped result."""
    return load(claim_id, RECORDED_FOLDER)


def last(claim: Claim) -> ClaimResult | None:
    """This machine's result, otherwise the shipped one."""
    return load(claim.id, own_folder()) or recorded_result(claim.id)
