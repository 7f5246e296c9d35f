"""A lab: a teacher and two students, from the room code to published answers.

The server is restarted in the middle.
"""

import re
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import expect

from dpmf_core.teaching import class_records, private_class, room_codes
from dpmf_core.teaching.lesson_links import TEACHER, sequence_of
from dpmf_core.teaching.lessons import LESSONS
from tests.browser.conftest import Server, await_view, choose, settle

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LESSON = LESSONS["response"]
(PART,) = LESSON.parts
QUESTION = "Have you ever copied homework?"
PROJECTOR = {"width": 1280, "height": 720}
PHONE = {"width": 390, "height": 844}
STATED_RANGE = re.compile(
    r"noise of up to ±6 \(95 of 100 counts\), so it can be negative"
)


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A server whose records the test reads too."""
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    running = Server(tmp_path)
    running.start()
    yield running
    running.kill()


@pytest.fixture
def browser_of(chromium, lab, tmp_path):
    """browser_of(name, path, window): a page in a browser of this person's own."""
    contexts = {}

    def open_page(name, path, window):
        contexts[name] = chromium.new_context(viewport=window)
        page = contexts[name].new_page()
        page.set_default_timeout(180_000)
        page.goto(lab.url + path)
        return page

    yield open_page
    for name, context in contexts.items():
        # the last look, for when the test has failed
        for number, page in enumerate(context.pages):
            page.screenshot(path=tmp_path / f"{name}-{number}.png")
        context.close()


def fill(page, label, text):
    page.get_by_label(label, exact=True).fill(text)
    page.get_by_label(label, exact=True).press("Tab")
    settle(page)


def make_class(page):
    """A private question on the glossary, then a lesson; the class view opens in its own tab."""
    settle(page)
    page.get_by_role("button", name="Make a lesson link").click()
    fill(page, "Title", "A secret")
    fill(page, "Question", QUESTION)
    page.get_by_text("yes or no, privately").click()
    settle(page)
    page.get_by_role("button", name="Add to a sequence").click()
    page.get_by_role("link", name="arrange it").click()
    await_view(page, "For teachers")
    settle(page)
    lessons = page.get_by_role("combobox", name="Lessons to add, in this order")
    lessons.click()
    lessons.fill(LESSON.title)
    page.get_by_role("option", name=LESSON.title).click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Add lessons").click()
    fill(page, "Title of the sequence", "Lab")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open the class view").click()
    view = opened.value
    view.set_default_timeout(180_000)
    expect(view.get_by_role("heading", name="Lab")).to_be_visible()
    settle(view)
    return view


def shown_code(view):
    return view.locator(".room-code").first.inner_text()


def join(page, code):
    """Through the box, after a wrong code."""
    settle(page)
    box = page.get_by_label("Room code")
    button = page.get_by_role("button", name="Join")
    box.fill("ABC DEF")
    button.click()
    expect(page.get_by_role("alert")).to_contain_text(
        "No class has the room code ABC DEF"
    )
    box.fill(code.lower().replace(" ", "-"))
    box.press("Enter")
    expect(page.get_by_text(QUESTION)).to_be_visible()


def answer(page, choice):
    """The private question, then the prediction and the answer in words of the lesson."""
    settle(page)
    page.get_by_text(choice, exact=True).click()
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_text("Your answer was sent.")).to_be_visible()


def predict(page, number, words):
    settle(page)
    page.get_by_role("button", name="Next page").click()
    expect(page.get_by_role("heading", name=LESSON.title)).to_be_visible()
    settle(page)
    group = page.get_by_role("radiogroup", name=PART.question)
    group.get_by_text(PART.answers[number], exact=True).click()
    page.get_by_role("button", name="Show what happens").click()
    group.wait_for(state="detached")
    settle(page)
    fill(page, LESSON.own_words, words)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_text("One good answer")).to_be_visible()


def sessions(view):
    return (
        view.get_by_test_id("stMetric")
        .filter(has_text="sessions")
        .get_by_test_id("stMetricValue")
    )


def save(page, name, folder):
    with page.expect_download() as download:
        page.get_by_role("button", name=name).click()
    download.value.save_as(folder / download.value.suggested_filename)
    return pd.read_csv(folder / download.value.suggested_filename)


def test_a_lab_from_the_room_code_to_published_answers(lab, browser_of, tmp_path):
    teacher = make_class(browser_of("teacher", "/glossary", PROJECTOR))
    code = shown_code(teacher)
    assert set(code.replace(" ", "")) <= set(room_codes.ALPHABET)
    fills_the_screen(teacher, code)

    # the teacher looks at the class as a student, and is not counted
    with teacher.context.expect_page() as opened:
        teacher.get_by_role("link", name="Open as a student").click()
    expect(
        opened.value.get_by_text("You count as a student once you answer.")
    ).to_be_visible()
    settle(opened.value)
    opened.value.close()

    ada = browser_of("ada", "/", PHONE)
    join(ada, code)
    answer(ada, "yes")
    expect(sessions(teacher)).to_have_text("1")

    lab.kill()
    lab.start()
    ben = browser_of("ben", f"/lessons?room={code.replace(' ', '').lower()}", PHONE)
    expect(ben.get_by_text(QUESTION)).to_be_visible()
    answer(ben, "no")
    predict(ben, PART.right, "Chance may have said it.")
    ada.reload()  # the address of the lesson still is hers
    expect(ada.get_by_text("Your answer was sent.")).to_be_visible()
    predict(ada, (PART.right + 1) % len(PART.answers), "=1+1")
    for phone in (ada, ben):
        assert phone.evaluate("document.documentElement.scrollWidth") <= 391

    teacher.reload()
    expect(sessions(teacher)).to_have_text("2")
    assert shown_code(teacher) == code
    published = publish(teacher)
    compare_with_records(teacher, published)
    predictions_are_bars(teacher)

    table = save(teacher, "Download the answers (CSV)", tmp_path)
    predicted = table[table["question"] == PART.question]
    assert sorted(predicted["students"]) == sorted(
        [1, 1, *[0] * (len(PART.answers) - 2)]
    )
    assert int(predicted[predicted["right"] == "yes"]["students"].item()) == 1
    secret = table[table["question"] == QUESTION]
    assert list(secret["students"]) == published
    assert set(secret["epsilon"]) == {1.0}
    assert "'=1+1" in set(table["answer"])  # no formula
    codes_come_in_as_they_are(teacher, ben, tmp_path)


def fills_the_screen(teacher, code):
    """The QR code is as high as the window allows, next to the code, without scrolling."""
    teacher.get_by_role("button", name="Fill the screen").click()
    screen = teacher.locator(".room-screen")
    picture = screen.get_by_role("img", name=re.compile("QR code of the link"))
    expect(picture).to_be_visible()
    expect(picture).to_have_attribute(
        "alt", re.compile(f"room={code.replace(' ', '')}$")
    )
    expect(screen.locator(".room-code")).to_be_visible()
    for window in (PROJECTOR, {"width": 1920, "height": 1080}, PHONE):
        teacher.set_viewport_size(window)
        boxes = [picture.bounding_box(), screen.locator(".room-code").bounding_box()]
        for box in boxes:
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= window["width"]
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= window["height"]
        assert boxes[0]["width"] >= 0.8 * min(window["width"], window["height"])
    teacher.set_viewport_size(PROJECTOR)
    teacher.keyboard.press("Escape")
    expect(screen).to_have_count(0)


def publish(teacher):
    """The counts of the private question, which two answers make a teacher ask for."""
    button = teacher.get_by_role("button", name="Publish 2 answers at ε = 1")
    expect(button).to_be_disabled()
    expect(
        teacher.get_by_text("Publishing waits for 10 answers, and there are 2.")
    ).to_be_visible()
    teacher.get_by_text("Publish fewer than 10 answers").click()
    expect(button).to_be_enabled()
    button.click()
    expect(teacher.get_by_text(STATED_RANGE)).to_be_visible()
    labels = teacher.locator(".js-plotly-plot").last.locator(".ytick")
    expect(labels).to_contain_text(["no: ", "yes: "])  # from the bottom up
    counts = dict(label.split(": ") for label in labels.all_text_contents())
    return [int(counts["yes"]), int(counts["no"])]


def compare_with_records(teacher, published):
    """What the page shows is what was drawn once and charged."""
    token = re.search(r"[?&]teach=([^&]+)", teacher.url)[1]
    class_id = sequence_of(token, TEACHER).id
    (publication,) = class_records.publications(class_id, "0.answer")
    assert list(publication.counts) == published
    assert publication.n_answers == 2
    assert private_class.spent_epsilon(class_id) == pytest.approx(1.0)


def predictions_are_bars(teacher):
    """The lesson's bars do not say which answer is right until they are asked."""
    choose(teacher, "Page of the class", LESSON.title)
    teacher.get_by_role("heading", name=re.compile(LESSON.title)).wait_for()
    labels = teacher.locator(".js-plotly-plot").last.locator(".ytick")
    expect(labels).to_have_text(list(reversed(PART.answers)))  # from the bottom up
    expect(teacher.get_by_text(PART.because[:40])).to_have_count(0)
    numbers = teacher.locator(".js-plotly-plot").last.locator(".xtick")
    expect(numbers).to_have_text(["0", "1"])
    expect(teacher.get_by_text("2 answers").first).to_be_visible()
    teacher.get_by_text("Show the right answer").click()
    right = labels.filter(has_text=PART.answers[PART.right])
    expect(right).to_have_text(f"✓ {PART.answers[PART.right]}")


def codes_come_in_as_they_are(teacher, student, folder):
    """A line with a name and the code that the student got."""
    student.get_by_role("button", name="Finish").click()
    codes = student.get_by_test_id("stCode")
    expect(codes).to_have_count(2)  # of the class, above the page, and of its lesson
    finished = codes.first.inner_text().strip()
    teacher.get_by_text("Check codes").click()
    box = teacher.get_by_role("textbox", name="Codes, one per line")
    box.fill(f"Name;Code\nAda Lovelace;nothing yet\n=Ben;{finished}")
    box.press("Control+Enter")
    expect(teacher.get_by_text("1 of 3 lines hold a valid code.")).to_be_visible()
    table = save(teacher, "Download the codes (CSV)", Path(folder))
    assert list(table["check"]) == ["no code", "no code", "valid"]
    assert table["rest of the line"].iloc[-1] == "'=Ben"
    assert table["code"].iloc[-1] == finished
    assert table["finished"].iloc[-1] == "Lab"
