"""Measured results of claims, stored as one file for each claim and size.

Recorded results are shipped; results of this machine are in its data folder.
"""

import functools
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, field_serializer

from dpmf_core import __version__
from dpmf_core.base.paths import create_folder, data_folder, write_whole
from dpmf_core.papers.figures import Claim, Figure, Verdict
from dpmf_core.runs.measurements import Measured

RECORDED_FOLDER = Path(__file__).parent / "recorded"
Size = Literal["page", "full"]
IN_FILE = ("label", "algorithm", "epsilon", "grid", "draws")  # of each summary
SIZES: tuple[Size, ...] = ("full", "page")  # the larger is more informative


class ClaimResult(BaseModel):
    """Measured results of a claim, from which the verdict follows; it is not stored.

    on: size and data in words. stands_in: what replaces the source's data or settings; '' if
    nothing does. created: ISO 8601, UTC. seconds: of all its runs in sequence.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    claim: str
    size: Size
    on: str
    stands_in: str = ""
    measured: tuple[Measured, ...]
    created: str
    version: str
    seconds: float | None = None

    @field_serializer("measured")
    def _in_file(self, measured: tuple[Measured, ...]) -> list[dict[str, Any]]:
        return [{name: getattr(it, name) for name in IN_FILE} for it in measured]

    def verdict(self, claim: Claim) -> Verdict:
        """Return what the stored draws say of the claim as it is stated now."""
        return replace(claim.judge(self.measured, self.obstacle(claim)), size=self.on)

    def obstacle(self, claim: Claim) -> str:
        """Return why these runs cannot judge the claim; '' if they can."""
        return claim.obstacle(self.size == "full", self.stands_in)


def result(
    claim: Figure, results: list[Measured], full: bool, seconds: float | None = None
) -> ClaimResult:
    """Return these results of a claim, ready to store."""
    return ClaimResult(
        claim=claim.id,
        size="full" if full else "page",
        on=claim.size(full),
        stands_in=claim.stands_in(full),
        measured=tuple(
            replace(it, draws=tuple(float(f"{draw:.7g}") for draw in it.draws), seeds=())
            for it in results
        ),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        seconds=None if seconds is None else round(seconds, 1),
    )


def own_folder() -> Path:
    """Return the folder of this machine's results."""
    return data_folder() / "papers"


def save(claim_result: ClaimResult, folder: Path | None = None) -> Path:
    """Store a result, replacing an older one of the same claim and size; raise BadInput."""
    path = create_folder(folder or own_folder()) / f"{claim_result.claim}.{claim_result.size}.json"
    text = json.dumps(claim_result.model_dump(mode="json"), indent=1, ensure_ascii=False)
    write_whole(path, f"{text}\n")
    return path


def load(claim_id: str, size: Size, folder: Path) -> ClaimResult | None:
    """Return a stored result, or None if this version cannot read it."""
    path = folder / f"{claim_id}.{size}.json"
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


def recorded_result(claim_id: str, size: Size) -> ClaimResult | None:
    """Return the shipped result."""
    return load(claim_id, size, RECORDED_FOLDER)


def last(claim: Claim) -> ClaimResult | None:
    """Return the most informative result: full size before page size, own before recorded."""
    for size in SIZES:
        for folder in (own_folder(), RECORDED_FOLDER):
            if (stored_result := load(claim.id, size, folder)) is not None:
                return stored_result
    return None
