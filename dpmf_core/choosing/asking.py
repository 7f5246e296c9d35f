"""Asking a question in one call, in this process: what the store has is not computed again."""

from collections.abc import Callable

from dpmf_core.choosing.answer import Answer, answer
from dpmf_core.choosing.question import Question, Runs
from dpmf_core.runs import data_access, execution
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store


def ask(
    question: Question, store: Store | None = None, tell: Callable[[int, int], None] | None = None
) -> Answer:
    """The answer. tell: called with how many of how many runs have finished. Raises BadInput."""
    runs = Runs(question, data_access.open_anywhere(question.data).shape)
    store = store or Store()
    finished_runs: dict[str, Run] = {}
    for key, spec in runs.specs.items():
        finished_runs[key] = _stored_or_run(spec, store)
        if tell is not None:
            tell(len(finished_runs), len(runs.specs))
    result = answer(runs, finished_runs)
    assert result is not None  # every run has finished
    return result


def _stored_or_run(spec: RunSpec, store: Store) -> Run:
    if (stored_run := store.whole(spec)) is not None:
        return stored_run
    run = execution.run(spec)
    store.put(run)
    return run
