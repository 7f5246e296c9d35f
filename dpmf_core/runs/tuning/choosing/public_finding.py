"""An answer on public or simulated data, which were measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs import conclusions
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.tuning.choosing import wording
from dpmf_core.runs.tuning.choosing.answer import Answer
from dpmf_core.runs.tuning.choosing.finding import Finding
from dpmf_core.runs.tuning.choosing.question import QuestionRuns


@dataclass(frozen=True, kw_only=True)
class PublicFinding(Finding):
    """The judged draws of every method on the data themselves."""

    public: ClassVar[bool] = True

    runs: QuestionRuns
    answer: Answer

    @property
    def place(self) -> Measured | None:
        """The method to train at its epsilon, as measured; None if there is none."""
        return self.answer.best

    @property
    def algorithm(self) -> str:
        if self.place is None:
            return ""
        return self.place.algorithm

    @property
    def epsilon(self) -> float:
        if self.place is None:
            return 0.0
        return self.place.epsilon or 0.0

    @property
    def sentence(self) -> str:
        return wording.headline(self.answer)

    @property
    def what(self) -> str:
        place = self.place
        if place is None or self.answer.is_undecided:
            return wording.no_difference(self.answer)
        return f"{place.label} at ε = {budget_text(self.epsilon)}"

    @property
    def result(self) -> str:
        place = self.place
        if place is None:
            return ""
        trained = f"{place.label}, trained at ε = {budget_text(self.epsilon)} on {self.title},"
        gain = [conclusions.kept_words(self.answer.judgement, place)]
        if self.parameters:
            gain.append("with recommended parameters rather than those of the command")
        result = f"{trained} {', '.join(gain)}."
        if self.answer.is_undecided:
            result = f"{result} {wording.no_difference(self.answer)}."
        return result

    @property
    def sentences(self) -> list[str]:
        return wording.sentences(self.answer)

    @property
    def source(self) -> str:
        return "measured on these data"

    @property
    def cost(self) -> str:
        return "Choosing cost no ε, because these data are public or synthetic."

    @property
    def columns(self) -> tuple[str, ...]:
        return self.answer.columns

    @property
    def rows(self) -> Sequence[tuple[str, ...]]:
        return self.answer.rows

    @property
    def about_rows(self) -> str:
        scale = conclusions.scale_words(self.answer.judgement)
        refusals = [
            f"{title} was not tried: {why}" for title, why in self.runs.refusals.items()
        ]
        return " ".join(
            [
                "Medians over draws of split and noise; 95%: Student's interval of the mean share"
                f" kept over draws. {scale} The methods are proven for a whole person, and every"
                " release is accounted exactly.",
                *refusals,
            ]
        )

    @property
    def details(self) -> dict[str, Any]:
        answer = self.answer
        judgement = answer.judgement

        def exported(one: Measured | None) -> dict[str, Any] | None:
            if one is None:
                return None
            return answer.export(one)

        return {
            "best": exported(answer.best),
            "is_undecided": answer.is_undecided,
            "no_difference": [one.algorithm for one in answer.rivals],
            "front": [exported(one) for one in judgement.front],
            "methods": [exported(one) for one in judgement.ranked],
            "without_noise": [
                exported(one) for one in judgement.measured if one.without_noise
            ],
            "best_known": exported(judgement.best_known),
            "floor": exported(judgement.floor),
            "refused": self.runs.refusals,
        }
