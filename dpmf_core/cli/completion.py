"""Completion in a shell: ids of algorithms, data sets, claims and stored runs.

`eval "$(_DPMF_COMPLETE=bash_source dpmf)"` switches it on in bash; zsh and fish are similar.
"""

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    """The names that start with the last part of a comma list, after its other parts."""
    before, comma, last = incomplete.rpartition(",")
    return [before + comma + name for name in names if name.startswith(last)]


def algorithm_ids(context: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    from dpmf_core.algorithms import REGISTRY

    return _starting(incomplete, REGISTRY)


def dataset_ids(
    context: click.Context, option: click.Parameter, incomplete: str
) -> list[str] | list[CompletionItem]:
    """Ids of the catalogue, or else files."""
    from dpmf_core.data.catalogue import catalogue

    entries = (*catalogue().catalogue(), *catalogue().in_parts())
    matches = _starting(incomplete, [entry.id for entry in entries])
    return matches or [CompletionItem(incomplete, type="file")]


def claim_ids(context: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    from dpmf_core.papers.registry import CLAIMS

    return _starting(incomplete, CLAIMS)


def figure_ids(context: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    from dpmf_core.papers.registry import FIGURES

    return _starting(incomplete, FIGURES)


def run_keys(context: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    from dpmf_core.runs.store import Store

    return _starting(incomplete, [str(key)[:8] for key in Store().run_keys()])
