"""A class under one lesson link: the teacher sees what the students did."""

import contextlib
import json
import sqlite3

import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.teaching import class_records, completion, private_class
from dpmf_core.teaching.lesson_links import (
    TEACHER,
    LessonLink,
    LessonSequence,
    link_token,
    sequence_of,
)
from dpmf_core.teaching.lessons import LESSONS
from tests.pages.driving import app_of, behind_sidebar, frames, settled, words

SEQUENCE = LessonSequence.parse(
    steps=(
        LessonLink.parse(page="lessons", query={"lesson": "neighbours"}),
        LessonLink.parse(page="glossary", question="Which word was new?"),
    ),
    title="Five",
    gathers=True,
)
PREDICT = "FormSubmitter:learn.neighbours.neighbours-Show what happens"


@pytest.fixture(autouse=True)
def class_settings(configure):
    configure(lesson_key="a key that nobody guesses, of this test")


def opened(page, **query):
    return settled(app_of(page, **query))


def address_of(app):
    """What the address says; the test client has some values as lists."""
    return {
        name: text if isinstance(text, str) else text[-1]
        for name, text in app.query_params.items()
    }


def press(app, key):
    app.button(key=key).click()
    settled(app)


def take_part(steps):
    """One student who takes so many of the four steps; the code, "" for an unfinished lesson."""
    app = opened("kit/navigation.py", **{"class": link_token(SEQUENCE)})
    if steps > 0:
        answers = LESSONS["neighbours"].parts[0].answers
        app.radio(key="learn.predict.neighbours.neighbours").set_value(answers[0])
        press(app, PREDICT)
    if steps > 1:
        app.text_area(key="learn.words.neighbours").set_value(f"Answer {steps}")
        press(app, "FormSubmitter:learn.neighbours.own-Send")
    if steps > 2:
        press(app, "lesson.next")
    if steps > 3:
        app.text_area(key="lesson.text.on1").set_value(f"Word {steps}")
        press(app, "FormSubmitter:lesson.answering-Send")
        press(app, "lesson.finish")
    if steps > 3:
        return app.code[0].value
    return ""


@pytest.mark.slow
def test_the_teacher_sees_how_far_each_student_came():
    codes = [take_part(steps) for steps in range(5)]
    (finished,) = (completion.read(code) for code in codes if code)
    assert finished.what == completion.mark(SEQUENCE.id)
    answers = class_records.class_answers(SEQUENCE.id)
    steps = (
        "0.opened",
        "0.neighbours",
        "0.answer",
        "1.opened",
        "1.answer",
        "1.finished",
    )
    assert [sum(step in answer for answer in answers) for step in steps] == [
        5,
        4,
        3,
        2,
        1,
        1,
    ]
    teacher = opened("lessons/page.py", teach=link_token(SEQUENCE, TEACHER))
    values = [metric.value for metric in teacher.metric]
    assert values == ["5", "1"]
    reached, predicted = frames(teacher)
    assert list(reached["sessions"]) == [5, 2]
    assert list(predicted["students"]) == [4, 0]
    assert sum("Answer" in text.value for text in teacher.markdown) == 3
    teacher.selectbox(key="teach.page").set_value(1)
    settled(teacher)
    assert sum("Word" in text.value for text in teacher.markdown) == 1


def axis_of(app, place):
    """The numbers' axis of a figure, the labels of its bars and their lengths."""
    figure = json.loads(app.get("plotly_chart")[place].proto.spec)
    (bars,) = figure["data"]
    return figure["layout"]["xaxis"], bars["y"], bars["text"]


def test_the_right_answer_is_hidden_until_the_teacher_shows_it():
    take_part(1)
    teacher = opened("lessons/page.py", teach=link_token(SEQUENCE, TEACHER))
    (part,) = LESSONS["neighbours"].parts
    right = part.answers[part.right]
    assert part.because not in words(teacher)
    assert "right" not in str(frames(teacher)[1])
    axis, labels, counts = axis_of(teacher, 1)
    assert labels == list(part.answers)
    assert counts == ["1", "0"]
    assert axis["dtick"] == 1  # no half students
    assert "1 answer" in [caption.value for caption in teacher.caption]
    teacher.toggle(key="teach.right.0.neighbours").set_value(True)
    settled(teacher)
    _, labels, _ = axis_of(teacher, 1)
    marked = [label for label in labels if label.startswith("✓")]
    assert marked == [f"✓ {right}"]
    assert part.because in words(teacher)


@pytest.mark.parametrize(
    ("counts", "noise", "tick"),
    [
        ([0, 0], 0, 1),
        ([1, 3], 0, 1),
        ([7], 0, 1),
        ([30, 2], 0, 5),
        ([500, 0], 0, 100),
        ([2], 60, 20),
    ],
)
def test_the_axis_of_counts_has_few_whole_numbers(counts, noise, tick):
    script = (
        "import pandas as pd\nfrom pages.lessons import class_figures\n"
        f"table = pd.DataFrame({{'answer': list('ab')[:{len(counts)}], 'students': {counts}}})\n"
        f"class_figures.draw('key', 'Counts.', table, noise={noise})"
    )
    axis, _, _ = axis_of(settled(app_of(script)), 0)
    low, high = axis["range"]
    assert axis["dtick"] == tick
    assert (high - low) / tick <= 9
    assert high > max(counts) + noise
    assert low < min(counts) - noise if noise else low == 0


def test_a_reload_lands_on_the_page_that_was_open():
    """Also after going back; an address without a page opens the last one that was reached."""
    app = opened("kit/navigation.py", **{"class": link_token(SEQUENCE)})
    # before anything is answered
    assert any("teacher" in caption.value for caption in app.caption)
    press(app, "lesson.next")
    press(app, "lesson.back")
    address = address_of(app)
    assert address["at"] == "1"
    again = opened("kit/navigation.py", **address)
    keys = [button.key for button in again.button if button.disabled]
    assert keys == ["lesson.back"]
    del address["at"]
    last = opened("kit/navigation.py", **address)
    assert last.button(key="lesson.finish")
    assert address_of(last)["at"] == "2"


@pytest.mark.parametrize("gathers", [True, False])
def test_a_finished_class_shows_the_same_code_after_a_reload(gathers):
    step = LessonLink.parse(page="glossary", question="Which word was new?")
    sequence = LessonSequence.parse(steps=(step, step), gathers=gathers)
    app = opened("kit/navigation.py", **{"class": link_token(sequence)})
    for place, button in enumerate(("lesson.next", "lesson.finish")):
        app.text_area(key=f"lesson.text.on{place}").set_value("sensitivity")
        press(app, "FormSubmitter:lesson.answering-Send")
        press(app, button)
    (code,) = app.code
    again = opened("kit/navigation.py", **address_of(app))
    values = [code.value for code in again.code]
    assert values == [code.value]
    assert len(class_records.class_answers(sequence.id)) == gathers


def test_a_learner_without_a_teacher_finds_answers_and_code_after_a_reload():
    app = opened("lessons/page.py", lesson="neighbours")
    assert "seat" not in app.query_params  # nothing is kept before there is an answer
    app.radio(key="learn.predict.neighbours.neighbours").set_value(0)
    press(app, PREDICT)
    app.text_area(key="learn.words.neighbours").set_value("Mine alone")
    press(app, "FormSubmitter:learn.neighbours.own-Send")
    again = opened("lessons/page.py", **address_of(app))
    assert (
        [block.value for block in again.code]
        == [block.value for block in app.code]
        != []
    )
    assert any("Mine alone" in text.value for text in again.markdown)
    other = opened(
        "lessons/page.py", lesson="neighbours", seat=class_records.new_seat()
    )
    assert not other.code
    assert not class_records.classes()


def test_a_sequence_and_its_class_stay_after_codes_are_checked_and_after_a_reload():
    app = opened("lessons/page.py", view="teachers")
    app.multiselect(key="teach.lessons").set_value(["neighbours", "attacker"])
    settled(app)
    press(app, "teach.add")
    app.text_input(key="teach.title").set_value("Tuesday")
    settled(app)
    links = class_links(app)
    made = sequence_of(address_of(app)["sequence"], TEACHER)
    code = completion.code(made.id, 2, 3, "a seat", completion.today())
    app.text_area(key="teach.codes").set_value(code)
    settled(app)
    assert class_links(app) == links
    assert list(frames(app)[-1]["finished"]) == ["Tuesday"]
    again = opened(
        "lessons/page.py", view="teachers", sequence=address_of(app)["sequence"]
    )
    assert class_links(again) == links
    assert again.text_input(key="teach.title").value == "Tuesday"
    press(again, "teach.another")
    ids = {
        sequence_of(address_of(page)["sequence"], TEACHER).id for page in (app, again)
    }
    assert len(ids) == 2


def class_links(app):
    return [
        code.value
        for code in app.code
        if "class=" in code.value or "teach=" in code.value
    ]


PRIVATE = LessonSequence.parse(
    steps=(
        LessonLink.parse(
            page="glossary", question="Did you cheat?", choices=("yes", "never")
        ),
    ),
    gathers=True,
)


def test_a_private_question_shows_counts_with_noise_and_no_answer():
    student = opened("kit/navigation.py", **{"class": link_token(PRIVATE)})
    kinds = [caption.value for caption in student.caption]
    # before the answer
    assert any("private" in text and "ε = 5" in text for text in kinds)
    student.radio(key="lesson.choice.on0").set_value("1")
    press(student, "FormSubmitter:lesson.answering-Send")
    assert not student.radio
    assert not any("never" in caption.value for caption in student.caption)
    # as a friend with the address
    again = opened("kit/navigation.py", **student.query_params)
    assert again.query_params["seat"] == student.query_params["seat"]
    assert "Your answer was sent." in [caption.value for caption in again.caption]
    assert not again.radio
    assert not any("never" in caption.value for caption in again.caption)
    teacher = opened("lessons/page.py", teach=link_token(PRIVATE, TEACHER))
    assert not teacher.exception
    assert "never" not in words(teacher)
    assert teacher.button(
        key="teach.publish.0.answer"
    ).disabled  # it waits for ten answers
    label = teacher.button(key="teach.publish.0.answer").label
    assert label.startswith("Publish 1 answer at ε = 1 *to ")
    assert "waits for 10 answers, and there is 1" in words(teacher)
    assert "±6" in words(teacher)
    teacher.toggle(key="teach.few.0.answer").set_value(True)
    settled(teacher)
    press(teacher, "teach.publish.0.answer")
    (publication,) = class_records.publications(PRIVATE.id, "0.answer")
    assert private_class.spent_epsilon(PRIVATE.id) == pytest.approx(1.0)
    table = next(frame for frame in frames(teacher) if "students" in frame)
    assert tuple(table["students"]) == publication.counts
    assert "±6 (95 of 100 counts), so it can be negative" in words(teacher)
    assert teacher.button(key="teach.publish.0.answer").disabled
    teacher.select_slider(key="teach.0.answer").set_value(0.5)
    settled(teacher)
    # turning costs nothing
    assert private_class.spent_epsilon(PRIVATE.id) == pytest.approx(1.0)
    teacher.select_slider(key="teach.0.answer").set_value(1.0)
    settled(teacher)
    assert class_records.publications(PRIVATE.id, "0.answer") == [publication]


def test_ten_answers_are_published_without_a_question():
    for number in range(10):
        seat = class_records.new_seat()
        class_records.record(
            PRIVATE.id, seat, {"0.answer": str(number % 2)}, by_login=True
        )
    teacher = opened("lessons/page.py", teach=link_token(PRIVATE, TEACHER))
    assert not teacher.toggle
    press(teacher, "teach.publish.0.answer")
    (publication,) = class_records.publications(PRIVATE.id, "0.answer")
    assert publication.n_answers == 10


def test_a_look_as_a_student_counts_from_the_first_answer_on():
    link = link_token(SEQUENCE)
    app = opened("kit/navigation.py", **{"class": link, "preview": "1"})
    assert "You count as a student once you answer" in words(app)
    press(app, "lesson.next")
    press(app, "lesson.back")
    assert class_records.class_answers(SEQUENCE.id) == []
    again = opened("kit/navigation.py", **address_of(app))
    assert "You count as a student once you answer" in words(again)
    again.radio(key="learn.predict.neighbours.neighbours").set_value(0)
    press(again, PREDICT)
    assert "You count as a student" not in words(again)
    assert "preview" not in address_of(again)
    (answers,) = class_records.class_answers(SEQUENCE.id)
    assert answers["0.neighbours"] == "0"


def test_the_whole_course_is_added_with_one_click_and_no_lesson_twice():
    app = opened("lessons/page.py", view="teachers")
    app.multiselect(key="teach.lessons").set_value(["attacker"])
    settled(app)
    press(app, "teach.add")
    press(app, "teach.add_course")
    sequence = sequence_of(address_of(app)["sequence"], TEACHER)
    names = [step.query["lesson"] for step in sequence.steps]
    others = [name for name in LESSONS if name != "attacker"]
    assert names == ["attacker", *others]
    assert app.button(key="teach.add_course").disabled


def test_lines_out_of_a_learning_system_are_checked_and_the_rest_is_kept():
    sequence = LessonSequence.parse(steps=SEQUENCE.steps, title="Tuesday", gathers=True)
    link = link_token(sequence, TEACHER)
    codes = []
    for number in range(29):
        seat = f"seat {number}"
        codes.append(completion.code(sequence.id, 1, 1, seat, "2026-03-02"))
    lines = ["Name;E-mail;Code"]
    lines += [f'"Doe, Jo {n}";=jo{n}@x;{code}' for n, code in enumerate(codes)]
    lines.append(f"Ada Lovelace, {codes[0]}")
    app = opened("lessons/page.py", teach=link)
    app.text_area(key="teach.codes").set_value("\n".join(lines))
    settled(app)
    assert "29 of 31 lines hold a valid code" in words(app)
    table = frames(app)[-1]
    assert list(table["check"]) == ["no code", *["valid"] * 29, "handed in twice"]
    assert table["rest of the line"].iloc[-1] == "Ada Lovelace"
    assert set(table["finished"].iloc[1:]) == {"Tuesday"}
    shown = [f"{code[:8]} ..." for code in codes]
    assert list(table["code"].iloc[1:30]) == shown
    assert [button.label for button in app.get("download_button")][
        -1
    ] == "Download the codes (CSV)"


def test_a_private_answer_is_asked_anew_to_change_it_and_its_address_is_not_to_be_shared():
    student = opened("kit/navigation.py", **{"class": link_token(PRIVATE)})
    assert "The address of this page is yours: do not share it." in words(student)
    student.radio(key="lesson.choice.on0").set_value("1")
    press(student, "FormSubmitter:lesson.answering-Send")
    press(student, "lesson.change.on0")
    assert student.radio(key="lesson.choice.on0").value is None
    student.radio(key="lesson.choice.on0").set_value("0")
    press(student, "FormSubmitter:lesson.answering-Send")
    (answers,) = class_records.class_answers(PRIVATE.id)
    assert answers["0.answer"] == "0"
    assert not student.radio
    assert "Your answer was sent." in words(student)


@pytest.fixture
def held_file(data_folder, monkeypatch):
    """held_file(): while the block lasts, another process holds the file of classes."""
    monkeypatch.setattr(class_records, "PATIENCE", 0.0)

    @contextlib.contextmanager
    def hold():
        file = data_folder / class_records.FILE
        with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as db:
            db.execute("BEGIN EXCLUSIVE")
            yield

    return hold


def stored_steps():
    return [set(answers) for answers in class_records.class_answers(SEQUENCE.id)]


@pytest.mark.parametrize("way", ["lesson.send", "lesson.next"])
def test_an_answer_that_could_not_be_kept_is_sent_by_a_button_or_with_the_next_step(
    way, held_file
):
    app = opened("kit/navigation.py", **{"class": link_token(SEQUENCE)})
    with held_file():
        app.radio(key="learn.predict.neighbours.neighbours").set_value(0)
        press(app, PREDICT)
        assert "not stored" in words(app)
        press(app, "lesson.send")
        assert "not stored" in words(app)  # nor lost
    assert stored_steps() == [{"0.opened"}]
    press(app, way)
    assert "not stored" not in words(app)
    (steps,) = stored_steps()
    assert steps >= {"0.opened", "0.neighbours"}
    for button in app.button:
        assert button.key != "lesson.send"


@pytest.mark.parametrize("teacher", [True, False])
def test_a_reload_while_the_file_is_held_can_be_tried_again(teacher, held_file):
    if teacher:
        address = {"class": link_token(SEQUENCE)}
    else:
        address = {"lesson": "neighbours"}
    app = opened("kit/navigation.py" if teacher else "lessons/page.py", **address)
    app.radio(key="learn.predict.neighbours.neighbours").set_value(0)
    press(app, PREDICT)
    if teacher:
        page = "kit/navigation.py"
    else:
        page = "lessons/page.py"
    with held_file():
        again = opened(page, **address_of(app))
        assert class_records.FILE in words(again)
        assert not again.radio
    press(again, "lesson.retry")
    assert again.text_area(key="learn.words.neighbours")
    assert address_of(again)["seat"] == address_of(app)["seat"]


def test_other_pages_open_while_the_file_is_held(held_file, data_folder):
    class_records.record(
        class_records.NO_CLASS, class_records.new_seat(), {"x.answer": "1"}
    )
    with held_file():
        glossary = app_of("kit/navigation.py", seat=class_records.new_seat()).run()
        assert not glossary.exception
        assert class_records.FILE not in words(glossary)


# a look at the class some seconds after its page was drawn
LOOK = """
from dpmf_core.teaching.lesson_links import TEACHER, sequence_of
from pages.lessons import class_view
import streamlit as st
class_view._draw_class(sequence_of(st.query_params["teach"], TEACHER))
"""


@pytest.mark.parametrize("script", [behind_sidebar("lessons/page.py"), LOOK])
def test_the_class_view_says_why_it_shows_nothing_and_goes_on(script, held_file):
    take_part(1)
    teacher = app_of(script, teach=link_token(SEQUENCE, TEACHER))
    with held_file():
        teacher.run()
        assert not teacher.exception
        assert class_records.FILE in words(teacher)
    teacher.run()
    assert not teacher.error
    values = [metric.value for metric in teacher.metric]
    assert values == ["1", "0"]


@pytest.mark.parametrize(
    "parts",
    [
        {"page": "glossary", "choices": ("yes", "no")},
        {"page": "glossary", "question": "Q", "choices": ("yes", "yes")},
        {"page": "glossary", "question": "Q", "choices": ("yes",)},
        {"page": "lessons", "question": "Q", "choices": ("yes", "no")},
    ],
)
def test_a_private_question_that_cannot_be_asked_is_refused(parts):
    with pytest.raises(BadInput):
        LessonLink.parse(**parts)
