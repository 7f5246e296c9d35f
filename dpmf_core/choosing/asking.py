"""Asking a question in one call, in this process: what the store has is not computed again."""

from collections.abc import Callable

from dpmf_core.choosing.answer import Answer, answer
from dpmf_core.choosing.question import Question, Runs
from dpmf_core.runs import data_access, execution
from dpmf_core.runs.lookup import stored
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store


def ask(
    question: Question, store: Store | None = None, tell: Callable[[int, int], None] | None = None
) -> Answer:
    """The answer. tell: called with how many of how many runs have finished. Raises BadInput."""
    runs = Runs(question, data_access.open_anywhere(question.data).shape)
    store = store or Store()
    finished: dict[str, Run] = {}
    for key, spec in runs.specs.items():
        finished[key] = _kept(spec, store)
        if tell is not None:
            tell(len(finished), len(runs.specs))
    found = answer(runs, finished)
    assert found is not None  # every run has finished
    return found


def _kept(spec: RunSpec, store: Store) -> Run:
    if (found := stored(spec, store)) is not None:
        return found
    made = execution.run(spec)
    store.put(made)
    return made
