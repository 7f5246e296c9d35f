"""What a shell completes, commands and options aside: ids of algorithms, data, runs, figures."""

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _completion(
    names: Callable[[], Iterable[str]], *, of_files: bool = False
) -> Complete:
    """The completion of one of these names; where none fits, of a file."""

    def complete(
        context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        items = [
            CompletionItem(name) for name in names() if name.startswith(incomplete)
        ]
        if of_files and not items:
            return [CompletionItem(incomplete, type="file")]
        return items

    return complete


def _algorithm_ids() -> Iterable[str]:
    from dpmf_core.algorithms import REGISTRY

    return REGISTRY


def _data_ids() -> Iterable[str]:
    from dpmf_core.data.catalogue import catalogue

    return [entry.id for entry in (*catalogue().catalogue(), *catalogue().in_parts())]


def _run_keys() -> Iterable[str]:
    from dpmf_core.runs.store import Store

    return Store().run_keys()


def _figure_ids() -> Iterable[str]:
    from dpmf_core.papers.registry import FIGURES

    return FIGURES


complete_algorithm = _completion(_algorithm_ids)
complete_data_id = _completion(_data_ids)
complete_data = _completion(_data_ids, of_files=True)
complete_run = _completion(_run_keys)
complete_figure = _completion(_figure_ids)


def complete_algorithms(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The last id of a list with commas."""
    before, comma, last = incomplete.rpartition(",")
    items = complete_algorithm(context, parameter, last)
    return [CompletionItem(f"{before}{comma}{item.value}") for item in items]


# how to complete each option, by its name
COMPLETIONS: dict[str, Complete] = {
    "algorithm": complete_algorithm,
    "algorithms": complete_algorithms,
    "dataset": complete_data,
    "preset": complete_figure,
}
