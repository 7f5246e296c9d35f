"""Texts of the first view of Topics and Faces at each measured epsilon."""

from dataclasses import dataclass
from typing import Any

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.epsilon_grid import Point
from dpmf_core.teaching.glossary import TERMS
from pages.kit.comparison import (
    gain_kept,
    headline,
    median,
    plain_headline,
    purchase_text,
)
from pages.kit.sidebar_values import Choice


@dataclass(frozen=True)
class Subject:
    """A page's words.

    id: of the page. title, many, numbered_title: of components. row, a_row: of data. source: which
    of the source's figures the page shows.
    """

    id: str
    title: str
    many: str
    numbered_title: str
    row: str
    a_row: str
    source: str


TOPICS = Subject(
    *("topics", "Topics", "topics", "Topic {number}", "document", "a document"),
    "“A topic in full” above is the source's Fig. 9. Its Fig. 1 draws the protocol.",
)
COMPONENTS = Subject(
    *("faces", "Components", "components", "Component {number}", "image", "an image"),
    "“One image as a sum of components” above is the source's Fig. 11.",
)


@dataclass(frozen=True)
class Sayings:
    """Headline, sentence and numbers of measured points.

    title, without: the private and the non-private method. proved: whether epsilon is guaranteed.
    coherence: of the non-private topics, if any.
    """

    subject: Subject
    choice: Choice
    title: str
    without: str
    proved: bool
    coherence: float | None

    def finding(
        self, point: Point, shared: float | None, coherence: float | None
    ) -> tuple[str, str]:
        """Return headline and sentence. shared: mean number of surviving top ten words."""
        if not point.shared_draws:
            return self._headline(point, f"has found {self.subject.many}"), ""
        nothing = f"finds no {self.subject.many}: it does no better than the average"
        sentences = [self._error_sentence(point)]
        if shared is not None:
            words = f"On average, {shared:.1f} of each topic's top ten words survive."
            sentences.insert(0, words)
        if coherence is not None and self.coherence is not None:
            sentences.append(
                f"Coherence {coherence:.2f} with privacy, {self.coherence:.2f} without."
            )
        sentences.append(purchase_text(self.choice, point))
        gain = gain_kept(point.shared_draws, self.without, nothing)
        return self._headline(point, gain), " ".join(filter(None, sentences))

    def _headline(self, point: Point, clause: str) -> str:
        if self.proved:
            return headline(self.choice, point, self.title, clause, " a step")
        return plain_headline(None, self.title, clause, len(point.shared_draws) or DRAWS)

    def _error_sentence(self, point: Point) -> str:
        private, best, guess = (share(median(point.shared_draws, place)) for place in range(3))
        return (
            f"Unexplained in a typical {self.subject.row}: {private} with privacy, {best} with"
            f" {self.without}, {guess} by the average {self.subject.row} alone."
        ) + (f" {point.cost.words(self.without)}" if point.cost else "")

    def cells(
        self, point: Point, shared: float | None, alike: float, coherence: float | None
    ) -> list[str]:
        """Return a row of the table of numbers, without its epsilon."""
        values = [METRICS["objective"].text(point.median), str(len(point.values)), f"{alike:.2f}"]
        if self.subject is TOPICS:
            values += ["" if it is None else f"{it:.2f}" for it in (shared, coherence)]
        return values


def share(objective: float) -> str:
    """Return the objective, half a squared distance, as a percentage of a row's squared size."""
    percent = 200 * objective
    return f"{percent:.0f}%" if percent >= 1 or percent == 0 else f"{percent:.1g}%"


def terms(subject: Subject, without: str) -> list[dict[str, str]]:
    """Return the first view's terms with their meanings, in order."""
    values = {"a_row": subject.a_row, "row": subject.row, "many": subject.many}
    meanings = {
        "ε": TERMS["epsilon"].words,
        "gain over guessing": (
            "How much more of {a_row} the {many} explain than the average {row} alone. 100% is the"
            " non-private version."
        ).format(**values),
        "survive": "Words in the lists with and without privacy; mean over the topics.",
        "Unexplained": (
            "The squared distance between {a_row} and its sum of {many}, as a share of the {row}'s"
            " squared size; mean over all, median draw. The objective is half of it."
        ).format(**values),
        "Coherence": (
            "How related a topic's words are in these documents: at best 1, about 0 for unrelated"
            " words (TC-W2V)."
        ),
    }
    return [{"term": term, "meaning": words} for term, words in meanings.items()]


NEAREST = "≈ ε = {epsilon} was not measured; this is the nearest measured point, ε = {shown}."
NEAREST_BOUGHT = (
    "≈ Nothing was trained on your data at ε = {epsilon}; this is the nearest trained point, ε ="
    " {shown}."
)


def templates(sayings: Sayings) -> dict[str, Any]:
    """Return the browser's texts; it fills in {..}."""
    subject, mine = sayings.subject, not sayings.choice.entry.public
    component = subject.numbered_title
    return {
        "near": (NEAREST_BOUGHT if mine else NEAREST),
        "pending": "" if mine else "This ε itself is being computed.",
        "stale": "",
        "caption": f"{_legend(subject, sayings.without)} {_draws_note(subject, sayings.choice)}",
        "part": component,
        "stay": "{stay} of {all} words survive",
        "gone": "gone:",
        "fresh": "new:",
        "withPrivacy": f"With privacy ({sayings.title})",
        "without": f"Without privacy ({sayings.without})",
        "alt": f"{component}, with privacy: {{alike}}% similar to its partner.",
        "plainAlt": f"{component}, without privacy.",
        "numbers": "The numbers",
        "columns": ["ε", "objective", "draws", "similarity (cosine)"]
        + ["surviving words", "coherence"] * (subject is TOPICS),
    }


def _legend(subject: Subject, without: str) -> str:
    if subject is TOPICS:
        return (
            f"Each list has the top ten words of a topic of {without}. Struck out: lost to privacy."
            " +: added by privacy."
        )
    return (
        f"Each component is next to the most similar one of {without}, with its own scale from"
        " black to white. The bar below it shows their similarity (cosine): full for equal"
        " pictures."
    )


def _draws_note(subject: Subject, choice: Choice) -> str:
    note = (
        f"The {subject.many} come from one draw, seed {choice.seed}; percentages are medians over"
        " draws."
    )
    if choice.entry.public:
        return note
    return f"{note} All are computed on your raw data, without noise. Only you see them."


def opening(subject: Subject, choice: Choice) -> str:
    return f"{subject.title} at ε = {budget_text(choice.epsilon)}, with privacy and without"
