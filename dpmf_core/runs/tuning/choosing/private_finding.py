"""An answer about private data: a prediction from their declared shape, until they are measured.

The prediction is a range over simulated worlds. A measured training replaces it, and so does a
private selection, which may choose another method; the account of the data pays for both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from dpmf_core import algorithms
from dpmf_core.base.errors import BadInput
from dpmf_core.privacy import Relation, Status
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs.fall_record import FallRecord
from dpmf_core.runs.measured_fall import MeasuredTraining
from dpmf_core.runs.paired_errors import NoisyError
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.runs.tuning.choosing import measured_trainings, wording
from dpmf_core.runs.tuning.choosing.finding import Finding
from dpmf_core.runs.tuning.choosing.measured_trainings import AnswerStep
from dpmf_core.runs.tuning.choosing.question import Question, candidates
from dpmf_core.runs.tuning.choosing.unpaid_range import (
    RIVALS,
    DeclaredShape,
    UnpaidRange,
    WorldRuns,
)
from dpmf_core.runs.tuning.private_selection import PrivateSelection, SelectionResult
from dpmf_core.runs.tuning.search_space import TuneSpec

TRIALS = 8.0  # the mean number of trials of a private selection
CHOSEN_ON_WORLDS = (
    "Choosing cost no ε: the method was tried on simulated worlds made only from declared and"
    " public facts, never from the ratings."
)
BEST_OF_SEVERAL = (
    "It is the best of several noisy figures, which looks a little too good."
)
TRIED_ON_WORLDS = (
    "The range cost no ε: it comes from simulated worlds made only from declared "
    "and public facts."
)


@dataclass(frozen=True, kw_only=True)
class PrivateFinding(Finding):
    """The range of the recommended method over the worlds, or what was measured instead.

    Attributes
    ----------
    expected
        The range over the worlds.
    selection
        The result of a private selection on the data themselves.
    steps
        The measured trainings on the data, in their order.
    """

    public: ClassVar[bool] = False

    expected: UnpaidRange
    selection: SelectionResult | None = None
    steps: tuple[AnswerStep, ...] = ()

    @property
    def algorithm(self) -> str:
        if self.selection is None:
            return self.expected.method
        return str(self.selection.winner.get("method", self.expected.method))

    @property
    def method_title(self) -> str:
        return algorithms.find(self.algorithm).title

    @property
    def epsilon(self) -> float:
        return self.question.spend or 0.0

    @property
    def is_expected(self) -> bool:
        """Whether the range is about the method of the answer."""
        return self.algorithm == self.expected.method

    # -- what was measured ------------------------------------------------------------------------

    @property
    def step(self) -> AnswerStep | None:
        """The last measured training of the answer; None if it was not measured."""
        alike = [
            step
            for step in self.steps_of_method
            if step.epsilon == self.epsilon
            and dict(step.spec.parameters) == dict(self.parameters)
        ]
        if alike:
            return alike[-1]
        return None

    @property
    def steps_of_method(self) -> tuple[AnswerStep, ...]:
        """The measured trainings of the answer's method; none for lists."""
        if self.question.goal != "ratings":
            return ()
        return tuple(
            step for step in self.steps if step.spec.algorithm == self.algorithm
        )

    @property
    def known_steps(self) -> list[AnswerStep]:
        """Those of `steps_of_method` whose fall is known."""
        return [step for step in self.steps_of_method if not step.fall.is_unknown]

    @property
    def fall(self) -> FallRecord | NoisyError | None:
        """The measured fall of the error with the answer; None before one is released."""
        if self.step is not None:
            return self.step.fall
        selection = self.selection
        if selection is None or selection.paired is None:
            return None
        return selection.paired.fall

    @property
    def contradiction(self) -> str:
        """A sentence if what was measured contradicts the prediction; '' otherwise."""
        fall = self.fall
        if fall is None or not self.is_expected:
            return ""
        return measured_trainings.contradiction(
            self.expected, self.epsilon, fall, own_mean_only=self.step is None
        )

    @property
    def is_trained(self) -> bool:
        return self.step is not None

    def with_step(self, run: Run) -> "PrivateFinding":
        """The finding after a measured training, the run of `work`."""
        step = AnswerStep.of(run, self.epsilon)
        return replace(self, steps=(*self.steps, step))

    def work(
        self, data: DataSpec, measurement: float, epsilon: float = 0.0
    ) -> MeasuredTraining:
        """The training of the answer on its data, with a measurement.

        Parameters
        ----------
        data
            The data.
        measurement
            The epsilon of the measurement.
        epsilon
            The epsilon of the training, for the people whom the question protects; 0 for the
            answer's.

        Returns
        -------
        MeasuredTraining
            The training and the measurement.

        Raises
        ------
        BadInput
            If the question is about lists.
        """
        question = self.question
        if question.goal != "ratings":
            raise BadInput(
                "A measurement is of the error of predicted ratings, and the question is about"
                " lists. Ask about ratings (--for ratings)."
            )
        spec = RunSpec.parse(
            data=data,
            algorithm=self.algorithm,
            parameters=dict(self.parameters),
            budget=question.budget(epsilon or self.epsilon),
            seed=question.seed,
        )
        return MeasuredTraining.parse(spec=spec, epsilon=measurement)

    # -- what it says -----------------------------------------------------------------------------

    @property
    def sentence(self) -> str:
        fall = self.fall
        if fall is not None:
            return measured_trainings.headline(
                self.algorithm, self.epsilon, fall, self._unit
            )
        if not self.is_expected:
            return f"Use {self.what}: a private selection on these data chose it"
        return wording.range_headline(self.expected, self.epsilon)

    @property
    def what(self) -> str:
        return f"{self.method_title} at ε = {budget_text(self.epsilon)}"

    @property
    def result(self) -> str:
        verb = "was" if self.is_trained else "is"
        trained = f"{self.what} {verb} trained on {self.title}."
        words = "A private selection on these data chose it."
        fall = self.fall
        if fall is not None:
            measured = measured_trainings.fall_words(fall, self._unit)
            words = f"Measured on these data, {measured}."
        elif self.is_expected:
            words = wording.range_words(self.expected, self.epsilon)
            if self.parameters:
                words += " That is with recommended parameters rather than those of the command."
        return " ".join(part for part in (self.contradiction, trained, words) if part)

    @property
    def sentences(self) -> list[str]:
        if self.fall is not None:
            return self._measured_sentences
        evidence = wording.range_sentences(self.expected, self.epsilon)
        if self.is_expected:
            return evidence
        about = algorithms.find(self.expected.method).title
        return [
            f"The following is about {about}, from before the selection.",
            *evidence,
        ]

    @property
    def _measured_sentences(self) -> list[str]:
        """What was measured and what it means; the prediction comes last."""
        step = self.step
        parts = [self.contradiction]
        if step is not None:
            parts.append(step.fall.headline)
        elif self.selection is not None and self.selection.paired is not None:
            parts += [self.selection.paired.floor_words, BEST_OF_SEVERAL]
        parts.append(measured_trainings.gained_words(self.known_steps, self._unit))
        if self.is_expected and not self.contradiction:
            parts.append(measured_trainings.agreement(self.expected, self.epsilon))
        if step is not None:
            parts += step.fall.sentences[1:]
        return [part for part in parts if part]

    @property
    def _unit(self) -> str:
        return wording.unit_of(self.expected)

    @property
    def source(self) -> str:
        if self.fall is None:
            return wording.WORLDS
        return measured_trainings.MEASURED

    @property
    def cost(self) -> str:
        if self.selection is None:
            return CHOSEN_ON_WORLDS
        return f"{TRIED_ON_WORLDS} {self.confirmation}"

    @property
    def columns(self) -> tuple[str, ...]:
        if self.steps_of_method:
            return measured_trainings.columns(self.expected)
        return wording.range_columns(self.expected)

    @property
    def rows(self) -> Sequence[tuple[str, ...]]:
        if self.steps_of_method:
            return measured_trainings.rows(
                self.expected, self.steps_of_method, is_expected=self.is_expected
            )
        return wording.range_rows(self.expected)

    @property
    def about_rows(self) -> str:
        if self.steps_of_method:
            return measured_trainings.about_rows(self.expected)
        return wording.worlds_words(self.expected)

    @property
    def details(self) -> dict[str, Any]:
        selection = self.selection
        return {
            "range": self.expected.export(),
            "selected": None if selection is None else selection.export(),
            "contradiction": self.contradiction or None,
            "measured": [step.export() for step in self.steps],
        }

    # -- a private selection ----------------------------------------------------------------------

    def with_selection(self, selection: SelectionResult) -> "PrivateFinding":
        """The finding after a private selection. The winner becomes the answer."""
        return replace(self, selection=selection)

    @property
    def confirmation(self) -> str:
        """The result and the price of a private selection on the data; '' without one."""
        selection = self.selection
        if selection is None:
            return ""
        price = f"A private selection on your data cost ε = {epsilon_text(selection.epsilon)}"
        price_words = f"{price} ({selection.terms})."
        if self.question.group > 1:
            together = epsilon_text(selection.spec.group_price(self.question.group))
            price_words += f" For {self.question.whom} that is ε = {together}."
        if selection.score is None or selection.interval is None:
            return f"{price_words} It ran no trial, so it chose no method."
        low, high = selection.interval
        return (
            f"{price_words} It chose {self.method_title}. Its held-out error is about"
            f" {selection.score:.2f} ({low:.2f} to {high:.2f}: 95% of the added noise; the best of"
            f" several noisy scores looks a little too good). {selection.floor_words}"
        )

    @property
    def earlier_charges(self) -> list[Charge]:
        """What was drawn before, with measured trainings even if their account was removed.

        So it is with a private selection.
        """
        earlier = [
            *self.earlier,
            *measured_trainings.missing_charges(self.earlier, self.steps),
        ]
        selection = self.selection
        if selection is None or any(
            charge.title == self._own_title for charge in earlier
        ):
            return earlier
        budget = selection.spec.budget
        price = selection.epsilon
        prices = (price, max(price, selection.spec.prices[1]))
        own = Charge(self._own_title, (), Status.PROVEN, price=prices)
        return [*earlier, replace(own, delta=budget.delta, relation=budget.relation)]

    @property
    def price_exception(self) -> float | None:
        if self.selection is None or not self._is_own:
            return None
        return self.selection.spec.exception(self.question.group)

    @property
    def group_price(self) -> float | None:
        if self.selection is None or not self._is_own:
            return None
        return self.selection.spec.group_price(self.question.group)

    @property
    def _own_title(self) -> str:
        if self.selection is None:
            return ""
        return self.selection.spec.title

    @property
    def _is_own(self) -> bool:
        """Whether the selection is the one earlier charge with a price.

        Its profile is known for its own relation only.
        """
        earlier = self.earlier_charges
        priced = [charge.title for charge in earlier if charge.price is not None]
        relations = {charge.relation for charge in earlier}
        return priced == [self._own_title] and relations == {Relation.ADD_REMOVE}


def world_runs(question: Question) -> WorldRuns:
    """The runs that the range of a question about private data needs. Raises BadInput."""
    shape = DeclaredShape.parse(question.data.id)
    suitable, _ = candidates(question, shape.shape)
    return WorldRuns(
        shape,
        question.epsilons,
        question.delta,
        metric=question.metric,
        methods=suitable[:1],
        of_one=question.of_one,
        seed=question.seed,
    )


def among_the_best(question: Question, data: DataSpec) -> PrivateSelection | None:
    """A private selection among the methods that are best on some data, at the asked epsilon.

    None if fewer than two suit, or no noisy figure compares them.
    """
    if question.goal != "ratings" or question.spend is None:
        return None
    shape = DeclaredShape.parse(question.data.id).shape
    suitable, _ = candidates(question, shape)
    methods = tuple(name for name in RIVALS if name in suitable)
    if len(methods) < 2:
        return None
    return selection(question, data, methods, question.spend, TRIALS)


def selection(
    question: Question,
    data: DataSpec,
    methods: tuple[str, ...],
    epsilon: float,
    trials: float,
) -> PrivateSelection:
    """A private selection among these methods on `data`.

    Each is trained so that those it must protect have `epsilon`. Raises BadInput.
    """
    budget = question.budget(epsilon)
    return PrivateSelection.parse(
        searches=tuple(
            TuneSpec(
                data=data,
                algorithm=name,
                search={},
                budget=budget,
                seed=question.seed,
            )
            for name in methods
        ),
        distribution="geometric",  # the logarithmic one is cheaper, but often tries only one
        trials=trials,
    )
