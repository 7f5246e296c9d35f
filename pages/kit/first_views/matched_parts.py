"""Components of a private run next to similar components of the non-private one."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from dpmf_core.jobs.engine import engine
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.inspection import pairs, small_pictures, topics
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from pages.kit.controls.sidebar_values import SidebarChoice

TOPICS = "topics"  # on this page components are lists of words
MATCHED_PARTS = "matched"  # name of these data among those shipped with runs
CACHE_SIZE = 1000  # runs with components in memory, for all sessions
WordsOrPicture = list[str] | str  # a topic's words, or a picture's file in base64


@dataclass(frozen=True)
class MatchedParts:
    """The components of a private run at the places of their non-private partners.

    Attributes
    ----------
    parts
        The component of each partner; empty if it has none.
    alike
        The cosine of each component with its partner.
    coherence
        The coherence of topics, if it is computed.
    """

    parts: Sequence[WordsOrPicture]
    alike: Sequence[float]
    coherence: float | None


def find_parts(
    page: str, choice: SidebarChoice, spec: RunSpec, best: RunSpec
) -> MatchedParts | None:
    """Components of a stored or shipped run, or None; cached on public data."""
    match = _cached_parts if choice.entry.public else match_parts
    try:
        return match(page, spec, best)
    except LookupError:
        package_parts = shipped_runs.view_data(spec, MATCHED_PARTS)
    if package_parts is None:
        return None
    return MatchedParts(
        package_parts["parts"], package_parts["alike"], package_parts["coherence"]
    )


def match_parts(page: str, spec: RunSpec, best: RunSpec) -> MatchedParts:
    """A run's components in the order of their partners; raises LookupError without the runs."""
    run = engine().known_runs.whole(spec)
    other = engine().known_runs.whole(best)
    if run is None or other is None:
        raise LookupError
    contents = _contents(page, run)
    n_partners = len(_contents(page, other))
    nothing: WordsOrPicture = [] if page == TOPICS else ""
    parts = [nothing] * n_partners
    alike = [0.0] * n_partners
    for pair in pairs(run, other):
        if pair.partner is not None:
            parts[pair.partner] = contents[pair.component]
            alike[pair.partner] = pair.cosine
    return MatchedParts(parts, alike, run.record.metrics.get("coherence"))


def _contents(page: str, run: Run) -> list[WordsOrPicture]:
    if page == TOPICS:
        return [[word for word, _ in topic] for topic in topics(run)]
    return [base64.b64encode(file).decode() for file in small_pictures(run)]


_cached_parts = lru_cache(CACHE_SIZE)(match_parts)
