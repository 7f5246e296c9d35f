"""A choice among methods on private data themselves: a private selection, of which the winner and
its noisy error leave.
"""

from dpmf_core.privacy import Budget
from dpmf_core.runs.specification import DataSpec
from dpmf_core.tuning.choosing.answer import Answer
from dpmf_core.tuning.choosing.question import Question
from dpmf_core.tuning.private_selection import PrivateSelection
from dpmf_core.tuning.search_space import TuneSpec

AMONG, TRIALS = 4, 8.0  # methods, and trials on average


def among_the_best(question: Question, answer: Answer, data: DataSpec) -> PrivateSelection | None:
    """Among the best methods at the answer's epsilon; None where there are not two, or no noisy
    figure compares them.
    """
    best = answer.best
    if best is None or question.goal != "ratings":
        return None
    methods = tuple(place.method for place in answer.at(best.epsilon)[:AMONG])
    if len(methods) < 2:
        return None
    return selection(question, data, methods, best.epsilon, TRIALS)


def selection(
    question: Question, data: DataSpec, methods: tuple[str, ...], epsilon: float, trials: float
) -> PrivateSelection:
    """Among these methods, each trained so that whom it must protect has `epsilon`, on `data`.

    Raises BadInput.
    """
    budget = Budget(
        epsilon=question.of_one(epsilon), delta=question.delta, relation=question.relation
    )
    return PrivateSelection.parse(
        searches=tuple(
            TuneSpec(data=data, algorithm=name, search={}, budget=budget, seed=question.seed)
            for name in methods
        ),
        distribution="geometric",  # the logarithmic law costs less, and often tries one alone
        trials=trials,
    )
