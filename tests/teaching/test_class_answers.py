"""The table of a class's answers: counts and texts, no sender, and nothing of private answers."""

from dpmf_core.teaching.class_answers import ClassPage, answers_table
from dpmf_core.teaching.class_records import Publication
from dpmf_core.teaching.lesson_links import LessonLink
from dpmf_core.teaching.lessons import LESSONS, question_only

LESSON = LESSONS["neighbours"]
(PART,) = LESSON.parts
PAGES = [
    ClassPage("A lesson", LessonLink.parse(page="lessons"), LESSON),
    ClassPage(
        "A secret",
        LessonLink.parse(page="glossary", question="Cheated?", choices=("yes", "no")),
        question_only("A secret", "Cheated?"),
        [Publication(0.5, 11, (-3, 12)), Publication(1.0, 12, (2, 9))],
    ),
    ClassPage(
        "A question",
        LessonLink.parse(page="glossary", question="Which word?"),
        question_only("A question", "Which word?"),
    ),
]
STUDENTS = [
    {"0.neighbours": "0", "0.answer": "noise", "1.answer": "0", "2.answer": "delta"},
    {"0.neighbours": "1", "1.answer": "0", "2.answer": "=1+1"},
    {"0.neighbours": "1", "0.opened": "", "1.answer": "1", "2.answer": "delta"},
]


def rows():
    table = answers_table(PAGES, STUDENTS).astype(object)
    return table.fillna("").values.tolist()


def test_each_answer_has_its_count_and_no_row_holds_two_answers():
    predicted = [
        [
            "1. A lesson",
            PART.question,
            answer,
            "yes" if place == PART.right else "no",
            count,
            "",
            "",
        ]
        for place, (answer, count) in enumerate(zip(PART.answers, (1, 2), strict=True))
    ]
    assert rows()[: len(predicted)] == predicted
    assert ["1. A lesson", LESSON.own_words, "noise", "", 1, "", ""] in rows()
    of_question = [row[2:5] for row in rows() if row[0] == "3. A question"]
    assert of_question == [["=1+1", "", 1], ["delta", "", 2]]


def test_a_private_question_has_its_publications_and_nothing_else():
    secret = [row for row in rows() if row[0] == "2. A secret"]
    assert [row[2:] for row in secret] == [
        ["yes", "", -3, 0.5, 11],
        ["no", "", 12, 0.5, 11],
        ["yes", "", 2, 1.0, 12],
        ["no", "", 9, 1.0, 12],
    ]


def test_a_class_without_an_answer_has_counts_of_zero():
    table = answers_table(PAGES[:1], [])
    assert list(table["students"]) == [0] * len(PART.answers)
