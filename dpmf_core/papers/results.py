"""What was measured of each claim: kept as files, one a claim and size.

Recorded results come with the package; results of this machine lie in its data folder.
"""

import functools
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from dpmf_core.base.paths import create_folder, data_folder, workplace
from dpmf_core.base.version import __version__
from dpmf_core.papers.figures import Claim, Figure, Verdict
from dpmf_core.runs.specification import Value
from dpmf_core.runs.sweep import Summary

RECORDED_FOLDER = Path(__file__).parent / "recorded"
Size = Literal["page", "full"]
SIZES: tuple[Size, ...] = ("full", "page")  # the larger says more


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MethodDraws(_Part):
    """The draws of one method at one place."""

    label: str
    algorithm: str
    epsilon: float | None = None
    grid: dict[str, Value] = {}
    draws: tuple[float, ...]

    def summary(self) -> Summary:
        return Summary(self.label, self.algorithm, self.epsilon, self.grid, self.draws)


class ClaimResult(_Part):
    """What was measured of a claim. The verdict follows from it and the claim: it is not stored.

    on: its size and data, in words. stands_in: which data or settings took the place of the
    source's, as a sentence; empty where none did. created: ISO 8601, UTC. seconds: of all its runs,
    as if one followed the other.
    """

    claim: str
    size: Size
    on: str
    stands_in: str = ""
    measured: tuple[MethodDraws, ...]
    created: str
    version: str
    seconds: float | None = None

    @property
    def summaries(self) -> list[Summary]:
        return [it.summary() for it in self.measured]

    def verdict(self, claim: Claim) -> Verdict:
        """What the stored draws say of the claim, as it is stated now."""
        limits = claim.limits(self.size == "full")
        obstacle = " ".join(filter(None, (self.stands_in, limits)))
        return replace(claim.judge(self.summaries, obstacle), size=self.on)


def result(
    claim: Figure, results: list[Summary], full: bool, seconds: float | None = None
) -> ClaimResult:
    """What these results say of a claim, ready to be kept."""
    return ClaimResult(
        claim=claim.id,
        size="full" if full else "page",
        on=claim.size(full),
        stands_in=claim.stands_in(full),
        measured=tuple(
            MethodDraws(
                label=it.label,
                algorithm=it.algorithm,
                epsilon=it.epsilon,
                grid=dict(it.grid),
                draws=tuple(float(f"{draw:.7g}") for draw in it.draws),
            )
            for it in results
        ),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        seconds=None if seconds is None else round(seconds, 1),
    )


def own_folder() -> Path:
    """Where the results of this machine lie."""
    return data_folder() / "papers"


def save(claim_result: ClaimResult, folder: Path | None = None) -> Path:
    """Keep a result, in place of an older one of the same claim and size.

    Raises OSError where the folder cannot be written.
    """
    path = create_folder(folder or own_folder()) / f"{claim_result.claim}.{claim_result.size}.json"
    text = json.dumps(claim_result.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"
    aside = workplace() / path.name if folder is None else path.with_suffix(".new")
    aside.write_text(text, encoding="utf-8")
    aside.replace(path)
    return path


def load(claim_id: str, size: Size, folder: Path) -> ClaimResult | None:
    """A kept result; None where there is none, or none that this version can read."""
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
    """The result that comes with the package."""
    return load(claim_id, size, RECORDED_FOLDER)


def last(claim: Claim) -> ClaimResult | None:
    """The result that says most: of full size before page size, of this machine before recorded."""
    for size in SIZES:
        for folder in (own_folder(), RECORDED_FOLDER):
            if (stored_result := load(claim.id, size, folder)) is not None:
                return stored_result
    return None
