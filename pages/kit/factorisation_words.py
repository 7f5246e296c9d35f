"""What the first view of Topics and Faces says at each measured epsilon, in plain words."""

from dataclasses import dataclass
from typing import Any

from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.epsilon_grid import Point
from dpmf_core.teaching.glossary import TERMS
from pages.kit.comparison import (
    gain_kept,
    headline,
    median,
    of_draws,
    purchase_text,
    unproved_headline,
)
from pages.kit.sidebar_values import Choice


@dataclass(frozen=True)
class Subject:
    """What a page is about, in phrases. id: of the page. title, many, numbered: of components; row,
    a_row: of what they explain.
    """

    id: str
    title: str
    many: str
    numbered_title: str
    row: str
    a_row: str


TOPICS = Subject(
    "topics",
    "Topics",
    "topics",
    "Topic {number}",
    "document",
    "a document",
)
COMPONENTS = Subject(
    "faces",
    "Components",
    "components",
    "Component {number}",
    "image",
    "an image",
)


@dataclass(frozen=True)
class Sayings:
    """Headline, sentence and numbers of measured points.

    title, without: the methods, private and not. proved: whether epsilon is what is promised.
    coherence: of the topics without privacy, if any.
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
        """shared: how many of a topic's ten words stay, on average."""
        if not point.beside:
            return self._headline(point, f"has found {self.subject.many}"), ""
        nothing = f"finds no {self.subject.many}: it does no better than the average"
        sentences = (
            _shared(shared),
            self._error_sentence(point),
            _coherence(coherence, self.coherence),
            purchase_text(self.choice, point),
        )
        gain = gain_kept(point.beside, self.without, nothing)
        return self._headline(point, gain), " ".join(filter(None, sentences))

    def _headline(self, point: Point, clause: str) -> str:
        if self.proved:
            return headline(self.choice, point, self.title, clause, " a step")
        return unproved_headline(self.title, clause, of_draws(len(point.beside) or DRAWS))

    def _error_sentence(self, point: Point) -> str:
        private, best, guess = (share(median(point.beside, place)) for place in range(3))
        return (
            f"Unexplained of a typical {self.subject.row}: {private} with privacy, {best} with"
            f" {self.without}, {guess} by the average {self.subject.row} alone."
        ) + (f" {point.cost.words(self.without)}" if point.cost else "")

    def cells(
        self, point: Point, shared: float | None, alike: float, coherence: float | None
    ) -> list[str]:
        """A line of the table of numbers, without its epsilon."""
        values = [f"{point.median:.4f}", str(len(point.values)), f"{alike:.2f}"]
        if self.subject is TOPICS:
            values += ["" if it is None else f"{it:.2f}" for it in (shared, coherence)]
        return values


def share(objective: float) -> str:
    """The objective, half a squared distance, as a share of the squared size of a row."""
    percent = 200 * objective
    return f"{percent:.0f}%" if percent >= 1 or percent == 0 else f"{percent:.1g}%"


def _shared(shared: float | None) -> str:
    if shared is None:
        return ""
    return f"On average, {shared:.1f} of each topic's top ten words survive."


def _coherence(private: float | None, plain: float | None) -> str:
    if private is None or plain is None:
        return ""
    return f"Coherence {private:.2f} with privacy, {plain:.2f} without."


def terms(subject: Subject) -> list[dict[str, str]]:
    """Terms as they are said, in the order in which the first view says them."""
    values = {"a_row": subject.a_row, "row": subject.row}
    meanings = {
        "ε": TERMS["epsilon"].words,
        "gain over guessing": (
            "How much less of {a_row} stays unexplained than by the average {row} alone. 100% is"
            " what the same search gains without privacy."
        ).format(**values),
        "survive": "In the lists of both, with privacy and without; mean over the topics.",
        "Unexplained": (
            "The squared distance between {a_row} and its sum of {many}, as a share of the {row}'s"
            " squared size; mean over all, median draw. Half of it is what the methods minimise,"
            " the objective."
        ).format(**values, many=subject.many),
        "Coherence": (
            "How close the words of a topic stand to each other in these documents: at best 1,"
            " about 0 for words that have nothing to do with each other (TC-W2V)."
        ),
    }
    return [{"term": term, "meaning": words} for term, words in meanings.items()]


NEAREST = (
    "≈ At ε = {epsilon} nothing was measured: this is the nearest measured point, ε = {shown}."
)
NEAREST_BOUGHT = (
    "≈ At ε = {epsilon} nothing was trained on your data: this is the nearest point that was"
    " bought, ε = {shown}."
)


def templates(sayings: Sayings) -> dict[str, Any]:
    """What the browser says; {..} is filled in there."""
    subject, mine = sayings.subject, not sayings.choice.entry.public
    component = subject.numbered_title
    return {
        "near": (NEAREST_BOUGHT if mine else NEAREST),
        "pending": "" if mine else "This ε itself is being computed.",
        "stale": "",
        "caption": f"{_legend(subject)} {_draws_note(subject, sayings.choice)}",
        "part": component,
        "stay": "{stay} of {all} words stay",
        "gone": "gone:",
        "fresh": "new:",
        "withPrivacy": f"With privacy ({sayings.title})",
        "without": f"Without privacy ({sayings.without})",
        "alt": f"{component}, with privacy: {{alike}}% like its partner.",
        "plainAlt": f"{component}, without privacy.",
        "numbers": "The numbers",
        "columns": _columns(subject),
    }


def _columns(subject: Subject) -> list[str]:
    common = ["ε", "objective", "draws", "alike (cosine)"]
    return common + (["words that stay", "coherence"] if subject is TOPICS else [])


def _legend(subject: Subject) -> str:
    if subject is TOPICS:
        return (
            "Each list has the ten heaviest words of a topic without privacy; struck out: privacy"
            " takes it from the list; +: what comes instead."
        )
    return (
        "Each component stands at the place of its partner without privacy, and has its own scale"
        " from black to white. The bar under it says how alike the two are: full where they are the"
        " same picture (their cosine is 1)."
    )


def _draws_note(subject: Subject, choice: Choice) -> str:
    note = (
        f"The {subject.many} are those of one draw, seed {choice.seed}; percentages are medians"
        " over draws."
    )
    if choice.entry.public:
        return note
    raw = "All are computed on your raw data, without noise: for your eyes."
    return f"{note} {raw}"


def opening(subject: Subject, choice: Choice) -> str:
    """The headline before there is any result."""
    return f"{subject.title} at ε = {budget_text(choice.epsilon)}, with privacy and without"
