"""What Choose answers, on public or private data: a method at an epsilon, and the way there.

`PublicFinding` and `PrivateFinding` say how they know it; here is what both share: titles with the
total of everything that was drawn, the summary for decision makers, and commands.
"""

import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from dpmf_core.privacy import Relation, UnsupportedEvent
from dpmf_core.privacy.budget import AccountBudget
from dpmf_core.privacy.decision import Decision, decide, for_group, planned_run
from dpmf_core.privacy.formatting import epsilon_number
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs.commands import PROGRAM, fit_command
from dpmf_core.runs.specification import RunSpec, Value
from dpmf_core.runs.tuning.choosing import wording
from dpmf_core.runs.tuning.choosing.question import Question

MODEL = "model"  # the folder that the command saves the model in
WISHES = ("spend", "keep", "reach")  # what a question asks for, one of them
NO_TOTAL = (
    "No total is known for a group, because the cost of what was drawn from these data before is"
    " known for one person only."
)


@dataclass(frozen=True, kw_only=True)
class Finding(ABC):
    """An answer about a data set.

    Attributes
    ----------
    question
        The question.
    title
        The name of the data.
    path
        The data as a command names them: an id of the catalogue, or a path with its facts; '' for a
        declared shape without data.
    assumptions
        What was taken as public about private data.
    parameters
        The method's parameters that differ from the recommended ones.
    program
        The words that start dpmf; `dpmf` in everything that is written to a file.
    earlier
        The charges in the account of the data.
    budget
        The budget of that account.
    is_trained_on_all
        Whether the answer was trained on all ratings. If the data have an account, its charges then
        include the training.
    """

    public: ClassVar[bool]

    question: Question
    title: str
    path: str
    assumptions: tuple[str, ...] = ()
    parameters: Mapping[str, Value] = field(default_factory=dict)
    program: tuple[str, ...] = PROGRAM
    earlier: tuple[Charge, ...] = ()
    budget: AccountBudget | None = None
    is_trained_on_all: bool = False

    # -- what it says -----------------------------------------------------------------------------

    @property
    @abstractmethod
    def algorithm(self) -> str:
        """The id of the method to train; '' if there is none."""

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """The epsilon to train it at, for those it must protect; 0 if there is none."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The answer as a sentence without a full stop."""

    @property
    @abstractmethod
    def what(self) -> str:
        """The method and its epsilon, for the title of a document."""

    @property
    @abstractmethod
    def result(self) -> str:
        """What training it brings, in sentences."""

    @property
    @abstractmethod
    def sentences(self) -> list[str]:
        """The evidence."""

    @property
    @abstractmethod
    def source(self) -> str:
        """Where every figure comes from, in words."""

    @property
    @abstractmethod
    def cost(self) -> str:
        """The cost of choosing and the data that it used, in sentences."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The heads of `rows`."""

    @property
    @abstractmethod
    def rows(self) -> Sequence[tuple[str, ...]]:
        """The table of figures as text."""

    @property
    @abstractmethod
    def about_rows(self) -> str:
        """What the figures of the table are, in sentences."""

    @property
    @abstractmethod
    def details(self) -> dict[str, Any]:
        """What only such an answer has, as JSON."""

    # -- titles -----------------------------------------------------------------------------------

    @property
    def headline(self) -> str:
        """The answer; if something was drawn from the data before, the total stands first."""
        return self._in_total(self.sentence)

    @property
    def name(self) -> str:
        """The recommendation and the data, as a title; or why there is no answer."""
        if not self.algorithm:
            return self.headline
        return self._in_total(f"{self.what} on {self.title}")

    def _in_total(self, text: str) -> str:
        """A title, after the total if something was drawn from the data before."""
        if self.decision is None or not self.decision.earlier:
            return text
        start = text
        if text.startswith(wording.STARTS):
            start = f"{text[:1].lower()}{text[1:]}"
        return f"ε = {self.decision.epsilon} in total: {start}"

    @property
    def summary(self) -> str:
        """The answer for decision makers, in a few sentences; '' if there is none.

        The total of everything that the decision draws stands first.
        """
        if not self.algorithm:
            return ""
        decision = self.decision
        if decision is None:
            return f"{NO_TOTAL} {self.result}"
        certainty = decision.certainty.words(wording.claim(self.question))
        parts = (f"{decision.cost}: {self.result}", certainty, decision.not_counted)
        return " ".join(part for part in parts if part)

    # -- what it draws ----------------------------------------------------------------------------

    @cached_property
    def decision(self) -> Decision | None:
        """Everything that choosing and training draw, composed.

        Once the answer is trained, it is what was drawn. None if nothing is recommended, or if what
        was drawn has no known cost for a group.
        """
        if not self.algorithm:
            return None
        planned = [self.planned_training]
        if self.is_trained or self._is_charged:
            planned = []
        return self._composed(planned)

    @property
    def is_trained(self) -> bool:
        """Whether the answer was trained and measured on the data."""
        return False

    @property
    def planned_training(self) -> Charge:
        """One training of the answer, for those it must protect."""
        return planned_run(self.epsilon, self.question.delta, Relation.ADD_REMOVE)

    def _composed(self, planned: Sequence[Charge]) -> Decision | None:
        """What was drawn, with what is planned; None where that has no known cost for a group."""
        question = self.question
        earlier = self.earlier_charges
        exception = self.price_exception
        if question.group == 1:
            budget = self.budget
            if budget is not None and budget.relation is not Relation.ADD_REMOVE:
                budget = None
            return decide(earlier, planned, budget, price_exception=exception)
        try:
            earlier = for_group(earlier, question.group, self.group_price)
        except UnsupportedEvent:
            return None
        group = f"group of up to {question.group} people"
        return decide(earlier, planned, price_exception=exception, unit=group)

    @property
    def _is_charged(self) -> bool:
        """Whether the earlier charges include the training of the answer on all ratings."""
        return self.is_trained_on_all and any(
            not charge.holds_out for charge in self.earlier
        )

    @property
    def earlier_charges(self) -> list[Charge]:
        """What was drawn from the data before."""
        return list(self.earlier)

    @property
    def price_exception(self) -> float | None:
        """The exception of the one earlier charge with a price; None where none is known."""
        return None

    @property
    def group_price(self) -> float | None:
        """What the one earlier charge with a price costs the group; None where it is not known."""
        return None

    @property
    def training(self) -> str:
        """The cost of choosing and training the answer, in sentences; '' if there is no answer."""
        if not self.algorithm:
            return ""
        decision = self.decision
        if decision is None:
            return NO_TOTAL
        what = "Training it once"
        if self.is_trained:
            what = "All that was drawn, with training and measuring it"
        elif decision.earlier:
            what = "Choosing and training it once"
        parts = [f"{what}: {decision.cost}.", decision.not_counted]
        if self.is_trained and not self._is_charged:
            again = self._composed([self.planned_training])
            assert again is not None  # the cost of what was drawn is known
            parts.append(f"Training it once more, on all ratings: {again.cost}.")
        return " ".join(part for part in parts if part)

    # -- commands ---------------------------------------------------------------------------------

    @property
    def run(self) -> RunSpec | None:
        """The run that trains the answer on all ratings; None if there is none."""
        if not self.algorithm or not self.path:
            return None
        return RunSpec.of(
            dataset=self.path,
            algorithm=self.algorithm,
            epsilon=float(f"{epsilon_number(self.question.of_one(self.epsilon)):.12g}"),
            delta=self.question.delta,
            parameters=dict(self.parameters),
            split="none",
        )

    @property
    def train(self) -> str:
        """The command that trains the answer on all ratings and saves it; '' if there is none."""
        if self.run is None:
            return ""
        return fit_command(self.run, self.program, MODEL)

    @property
    def again(self) -> str:
        """The command that repeats the answer, on the data that methods were tried on."""
        return shlex.join([*self.program, *self.again_arguments])

    @property
    def again_arguments(self) -> list[str]:
        """The arguments of the program in `again`."""
        question = self.question
        parts = ["choose", "--dataset", question.data.id, "--for", question.goal]
        for name, value in self.again_keywords.items():
            text = f"{value:g}" if name in WISHES else str(value)
            parts += [f"--{name}"] if value is True else [f"--{name}", text]
        return parts

    @property
    def again_keywords(self) -> dict[str, Any]:
        """The arguments of `dpmf.choose` that repeat the answer, without the data and the goal."""
        keywords = self.question.model_dump(
            exclude={"data", "protect", "goal"}, exclude_none=True
        )
        if self.question.group == 1:
            del keywords["group"]
        if not self.question.every:
            del keywords["every"]
        return keywords
