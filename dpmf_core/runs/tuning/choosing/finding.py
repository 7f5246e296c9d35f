"""An answer with its data and the cost of choosing: commands, a printable page, a notebook.

Page and notebook are self-contained. They hold the question, figures from public or simulated data,
declared facts and noisy releases, and nothing else of private rows.
"""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from markupsafe import Markup

from dpmf_core import algorithms
from dpmf_core.base import documents
from dpmf_core.base.documents import plain
from dpmf_core.privacy import Budget, Relation, Status, UnsupportedEvent
from dpmf_core.privacy.budget import AccountBudget
from dpmf_core.privacy.decision import Decision, decide, for_group, planned_run
from dpmf_core.privacy.formatting import budget_text, delta_text, epsilon_number, epsilon_text
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs import conclusions
from dpmf_core.runs.conclusions import Reference, share_text
from dpmf_core.runs.draws import Judgement
from dpmf_core.runs.line_charts import line_chart
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.record import provenance
from dpmf_core.runs.specification import DataSpec, Value
from dpmf_core.runs.tuning.choosing import wording
from dpmf_core.runs.tuning.choosing.answer import Answer
from dpmf_core.runs.tuning.choosing.question import Question, Runs
from dpmf_core.runs.tuning.private_selection import PrivateSelection, SelectionResult
from dpmf_core.runs.tuning.search_space import TuneSpec

AMONG, TRIALS = 4, 8.0  # methods of a private selection, and its mean number of trials
CHOSEN_ON_PUBLIC = "Choosing cost no ε, because these data are public or synthetic."
CHOSEN_ON_STAND_IN = (
    "Choosing cost no ε: methods were tried on synthetic data made only from declared and public"
    " facts, never from the ratings."
)
TRIED_ON_STAND_IN = (
    "Trying the methods cost no ε: it used synthetic data made only from declared and public facts."
)
ON_STAND_IN = "measured on synthetic data of the same shape"
NO_TOTAL = (
    "No total is known for a group, because the cost of what was drawn from these data before is"
    " known for one person only."
)


@dataclass(frozen=True)
class Finding:
    """An answer about a data set.

    title: the name of the data. path: how a command names them: an id of the catalogue, or a path
    with its facts. assumptions: what was taken as public about private data. selection: the result
    of a private selection on the data themselves. parameters: the method's, where they differ from
    the recommended ones. program: what starts dpmf (`base.program.start`). earlier: the charges in
    the account of the data; budget: the account's.
    """

    runs: Runs
    answer: Answer
    title: str
    path: str
    public: bool
    assumptions: tuple[str, ...] = ()
    selection: SelectionResult | None = None
    parameters: Mapping[str, Value] = field(default_factory=dict)
    program: tuple[str, ...] = ("dpmf",)
    earlier: tuple[Charge, ...] = ()
    budget: AccountBudget | None = None

    @property
    def question(self) -> Question:
        return self.runs.question

    @property
    def place(self) -> Measured | None:
        """The method to train at its epsilon, as measured; None if there is none."""
        return self.answer.best

    @property
    def epsilon(self) -> float:
        """The epsilon of the answer for those it must protect; 0 if there is none."""
        return 0.0 if self.place is None else self.place.epsilon or 0.0

    @property
    def measured_on(self) -> str:
        """The data that every figure is about, in words."""
        return "measured on these data" if self.public else ON_STAND_IN

    @property
    def headline(self) -> str:
        """The recommendation, and where it was measured if not on the data.

        If something was drawn from the data before, the total stands first.
        """
        text = self._in_total(wording.headline(self.answer))
        return text if self.public else f"{text} ({ON_STAND_IN})"

    @property
    def name(self) -> str:
        """The recommendation and the data, as a title; or why there is no answer."""
        place = self.place
        if place is None:
            return self.headline
        what = f"{place.label} at ε = {budget_text(self.epsilon)}"
        if self.answer.is_undecided:
            what = wording.no_difference(self.answer)
        return self._in_total(f"{what} on {self.title}")

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
        place = self.place
        if place is None:
            return ""
        trained = f"{place.label}, trained at ε = {budget_text(self.epsilon)} on {self.title},"
        gain = [conclusions.kept_words(self.answer.judgement, place)]
        if not self.public:
            gain.append(ON_STAND_IN)
        if self.parameters:
            gain.append("with recommended parameters rather than those of the command")
        result = f"{trained} {', '.join(gain)}."
        if self.answer.is_undecided:
            result = f"{result} {wording.no_difference(self.answer)}."
        decision = self.decision
        if decision is None:
            return f"{NO_TOTAL} {result}"
        certainty = decision.certainty.words(wording.claim(self.question))
        parts = (f"{decision.cost}: {result}", certainty, decision.not_counted)
        return " ".join(part for part in parts if part)

    @cached_property
    def decision(self) -> Decision | None:
        """Everything that choosing and training draw, composed.

        None if nothing is recommended, or if what was drawn has no known cost for a group.
        """
        if self.place is None:
            return None
        question, earlier = self.question, self._earlier_charges
        training = planned_run(self.epsilon, question.delta, question.relation)
        priced = [charge for charge in earlier if charge.price is not None]
        # the profile of the selection is known for its own relation only
        is_own = [charge.title for charge in priced] == [self._own_title] and all(
            charge.relation is question.relation for charge in earlier
        )
        price_exception = None
        if self.selection is not None and is_own:
            price_exception = self.selection.spec.exception(question.group)
        if question.group == 1:
            budget = self.budget
            if budget is not None and budget.relation is not question.relation:
                budget = None
            return decide(earlier, [training], budget, price_exception=price_exception)
        group_price = None
        if self.selection is not None and is_own:
            group_price = self.selection.spec.group_price(question.group)
        try:
            earlier = for_group(earlier, question.group, group_price)
        except UnsupportedEvent:
            return None
        group = f"group of up to {question.group} people"
        return decide(earlier, [training], price_exception=price_exception, unit=group)

    @property
    def _own_title(self) -> str:
        return "" if self.selection is None else self.selection.spec.title

    @property
    def _earlier_charges(self) -> list[Charge]:
        """What was drawn before, with the private selection even if its account was removed."""
        earlier, selection = list(self.earlier), self.selection
        if selection is None or any(charge.title == self._own_title for charge in earlier):
            return earlier
        budget, price = selection.spec.budget, selection.epsilon
        prices = (price, max(price, selection.spec.prices[1]))
        own = Charge(self._own_title, (), Status.PROVEN, price=prices)
        return [*earlier, replace(own, delta=budget.delta, relation=budget.relation)]

    def with_selection(self, selection: SelectionResult) -> "Finding":
        """The finding after a private selection, whose winner becomes the answer."""
        method = str(selection.winner.get("method", ""))
        return replace(
            self, selection=selection, answer=replace(self.answer, selected_method=method)
        )

    @property
    def cost(self) -> str:
        """The cost of choosing and the data that it used, in sentences."""
        if self.public:
            return CHOSEN_ON_PUBLIC
        if self.selection is None:
            return CHOSEN_ON_STAND_IN
        return f"{TRIED_ON_STAND_IN} {self.confirmation}"

    @property
    def confirmation(self) -> str:
        """The result and the price of a private selection on the data; '' without one."""
        selection, measured = self.selection, self.answer.measured_best
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
        winner = algorithms.find(str(selection.winner["method"])).title
        before = ", as the synthetic data did"
        if measured is not None and measured != self.place:
            before = f"; the synthetic data had chosen {measured.label}"
        return (
            f"{price_words} It chose {winner}{before}. Its held-out error is about"
            f" {selection.score:.2f} ({low:.2f} to {high:.2f}: 95% of the added noise; the best of"
            f" several noisy scores looks a little too good). {selection.floor_words}"
        )

    @property
    def training(self) -> str:
        """The cost of choosing and training the answer, in sentences; '' if there is no answer."""
        if self.place is None:
            return ""
        decision = self.decision
        if decision is None:
            return NO_TOTAL
        what = "Choosing and training it once" if decision.earlier else "Training it once"
        return " ".join(filter(None, (f"{what}: {decision.cost}.", decision.not_counted)))

    @property
    def configuration(self) -> dict[str, Any]:
        """The options of `fit` that train the answer, by name; empty if there is none."""
        question, best = self.question, self.place
        if best is None:
            return {}
        options = {
            "dataset": self.path,
            "algorithm": best.algorithm,
            "epsilon": float(f"{epsilon_number(question.of_one(self.epsilon)):.12g}"),
            "delta": question.delta,
        }
        if question.relation is not Relation.ADD_REMOVE:
            options["relation"] = question.relation.value
        return options

    @property
    def train(self) -> str:
        """The command that trains the answer; '' if there is none."""
        options = self.configuration
        parts = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        for name, value in self.parameters.items():
            parts += ["--param", f"{name}={value}"]
        return shlex.join([*self.program, "fit", *parts]) if options else ""

    @property
    def again(self) -> str:
        """The command that repeats the answer, on the data that methods were tried on."""
        return shlex.join([*self.program, *self.again_arguments])

    @property
    def again_arguments(self) -> list[str]:
        """The arguments of the program in `again`."""
        question = self.question
        parts = ["choose", "--dataset", question.data.id, "--for", question.goal]
        if question.protect == "group":
            parts += ["--group", str(question.group)]
        elif question.protect == "rating":
            parts += ["--protect", "rating"]
        for name in ("spend", "keep", "reach"):
            value = getattr(question, name)
            parts += [] if value is None else [f"--{name}", f"{value:g}"]
        for name in ("delta", "draws", "seed"):
            parts += [f"--{name}", str(getattr(question, name))]
        return parts + ["--every"] * question.every


# ---- a private selection among the best ----------------------------------------------------------


def among_the_best(question: Question, answer: Answer, data: DataSpec) -> PrivateSelection | None:
    """A private selection among the best methods at the answer's epsilon.

    None if there are fewer than two, or no noisy figure compares them.
    """
    best = answer.best
    if best is None or question.goal != "ratings":
        return None
    epsilon = best.epsilon or 0.0
    methods = tuple(one.algorithm for one in answer.judgement.at(epsilon)[:AMONG])
    if len(methods) < 2:
        return None
    return selection(question, data, methods, epsilon, TRIALS)


def selection(
    question: Question, data: DataSpec, methods: tuple[str, ...], epsilon: float, trials: float
) -> PrivateSelection:
    """A private selection among these methods on `data`.

    Each is trained so that those it must protect have `epsilon`. Raises BadInput.
    """
    budget = Budget(
        epsilon=question.of_one(epsilon), delta=question.delta, relation=question.relation
    )
    return PrivateSelection.parse(
        searches=tuple(
            TuneSpec(data=data, algorithm=name, search={}, budget=budget, seed=question.seed)
            for name in methods
        ),
        distribution="geometric",  # the logarithmic one is cheaper, but often tries only one
        trials=trials,
    )


# ---- documents -----------------------------------------------------------------------------------


def report(finding: Finding) -> str:
    """The finding as an HTML page."""
    answer = finding.answer
    return documents.render(
        "choice.html",
        title=finding.name,
        finding=finding,
        sentences=wording.sentences(answer),
        chart=Markup(_chart(finding)),
        question_rows=_question_rows(finding),
        scale=conclusions.scale_words(answer.judgement),
        outside="left out" if "outside=leave-out" in finding.path else "set to its nearest end",
    )


def notebook(finding: Finding) -> str:
    """A notebook, as JSON, that repeats and trains the answer if the package is installed."""
    sentences = wording.sentences(finding.answer)
    return documents.notebook("choice.notebook", finding=finding, sentences=sentences)


def _question_rows(finding: Finding) -> list[tuple[str, object]]:
    question, origin = finding.question, provenance()
    wish = f"RMSE of at most {question.reach}"
    if question.goal == "lists":
        wish = f"Recall@20 of at least {question.reach}"
    if question.spend is not None:
        wish = f"ε at most {budget_text(question.spend)}"
    elif question.keep is not None:
        worth = conclusions.worth_words(finding.answer.judgement)
        wish = f"at least {question.keep:.0%} of {worth}"
    rows: dict[str, object] = {
        "data": finding.title + ("" if finding.public else " (private)"),
        "tried on": "these data" if finding.public else f"synthetic data, {question.data.id}",
        "taken as public or declared": ", ".join(finding.assumptions),
        "must protect": question.whom,
        "asked for": wish,
        "is for": "ratings" if question.goal == "ratings" else "lists of 20",
        "δ": delta_text(question.delta),
        "parameters": ", ".join(f"{name} {plain(it)}" for name, it in finding.parameters.items()),
        "draws of split and noise": _draws_words(finding),
        "made (UTC)": origin["created"],
        "versions": ", ".join(f"{name} {it}" for name, it in origin["versions"].items()),
    }
    return [(name, value) for name, value in rows.items() if value]


def _draws_words(finding: Finding) -> str:
    """How many draws there are of each run, and of close methods."""
    first, place = finding.question.draws, finding.place
    if place is None or len(place.draws) <= first:
        return str(first)
    return f"{first}; {len(place.draws)} of the best methods at ε = {budget_text(finding.epsilon)}"


def _chart(finding: Finding) -> str:
    """The share kept against epsilon, one line for each method; the recommended one stands out.

    Where sharing is worth nothing measurable it is the error.
    """
    answer, judgement = finding.answer, finding.answer.judgement
    ends, best = (answer.question.epsilons[0], answer.question.epsilons[-1]), answer.best
    references = conclusions.reference_lines(judgement, best)
    text: Callable[[float], str] = answer.metric.text
    what = answer.metric.title
    if judgement.is_sharing_worth:
        references = conclusions.share_lines(judgement, best)
        text = share_text
        what = "Share kept"
    names = _line_names(judgement)
    lines = {names[line.reference]: [(end, line.value) for end in ends] for line in references}
    for one in judgement.ranked:
        height = judgement.share(one) if judgement.is_sharing_worth else one.median
        if height is not None:
            lines.setdefault(one.label, []).append((one.epsilon or 0.0, height))
    return line_chart(
        lines,
        f"{what} against ε, total",
        f"{what} against epsilon. {finding.headline}",
        log=True,
        best=best.label if best else "",
        dashes={names[line.reference]: line.reference for line in references},
        dot=lines[best.label][answer.question.epsilons.index(finding.epsilon)] if best else None,
        text=text,
    )


def _line_names(judgement: Judgement) -> dict[Reference, str]:
    """Short names of the reference lines; their figures are in the sentences."""
    best = judgement.best_known
    return {
        Reference.WITHOUT_NOISE: "without noise",
        Reference.BEST_KNOWN: "" if best is None else f"{best.label}, no privacy",
        Reference.FLOOR: conclusions.floor_words(judgement),
    }
