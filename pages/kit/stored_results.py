"""That figures on a page are stored results that come with the package, and of what they are."""

from collections.abc import Collection

import streamlit as st

from dpmf_core.jobs.engine import engine
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.specification import RunSpec


def note(specs: Collection[RunSpec]) -> None:
    """Say so where some of these runs come with the package and the store has none of its own:
    algorithms with their versions, seeds, when and by which versions they were computed.
    """
    summaries = engine().known_runs.summaries(list(specs))
    lacking = [spec for spec, here in zip(specs, summaries, strict=True) if here is None]
    records = [it for it in map(shipped_runs.record, lacking) if it is not None]
    if not records:
        return
    by_title = {it.title: it.version for it in records}
    versions = [f"{title} version {version}" for title, version in by_title.items()]
    st.caption(
        (
            f"Stored results that come with dpmf: {_first_of(versions)}; seeds"
            f" {_range(sorted({it.spec.seed for it in records}))}. This machine has not computed"
            " them itself yet."
        ),
        help=(
            f"{', '.join(versions)}. {len(records)} runs of exactly these settings, made on"
            f" {max(it.created for it in records)[:10]} with dpmf"
            f" {records[0].versions.get('dpmf', '?')} and numpy"
            f" {records[0].versions.get('numpy', '?')}. Results of another version of an"
            " algorithm are not shown."
        ),
    )


def _first_of(versions: list[str]) -> str:
    """What the page is about; the others stand in the help."""
    if len(versions) == 1:
        return versions[0]
    return f"{versions[0]} and {len(versions) - 1} more"


def _range(seeds: list[int]) -> str:
    return str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]}–{seeds[-1]}"
