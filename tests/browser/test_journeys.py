"""What a person does with the dashboard, from an entry to a result, in a real browser.

The tests run in order on one server: what one computes is stored for the next.
"""

import re
import zipfile
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import expect

from dpmf_core.teaching import completion
from dpmf_core.teaching.lessons import LESSONS
from pages.kit.base.page_table import SECTIONS
from tests.browser.conftest import await_view, choose, go, settle
from tests.support.messy_table import messy_table

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SMALL = "data=cinema-small&algorithm=private-bias"
WORK = 300_000  # ms for trainings on a busy machine
FOLLOWERS = (".hero h1", ".hero .sentence", ".hundred")


def headline(page, text):
    page.wait_for_selector(f"h1:has-text('{text}')", timeout=WORK)


def slider_to(page, slider, epsilon):
    """Move the mouse to where the slider has this epsilon."""
    rail = slider.bounding_box()
    share = slider.evaluate(
        """(rail, epsilon) => {
            const [low, high] = [rail.ariaValueMin, rail.ariaValueMax].map(Math.log);
            return (Math.log(epsilon) - low) / (high - low);
        }""",
        epsilon,
    )
    x = rail["x"] + share * rail["width"]
    y = rail["y"] + rail["height"] / 2
    page.mouse.move(x, y, steps=4)


def test_from_the_start_page_to_a_share_link(visit):
    """The figure answers while it is held; Explore opens there; its link shows the same."""
    page = visit("/", reduced_motion="reduce")
    epsilon = page.locator(".number").first
    handle = page.get_by_role("slider", name="Epsilon")
    expect(epsilon).to_have_text("ε = 2")
    box = handle.bounding_box()
    x = box["x"] + box["width"] / 2
    y = box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 150, y)
    expect(epsilon).not_to_have_text("ε = 2")
    text = epsilon.inner_text()
    page.mouse.up()
    page.get_by_role("link", name=text).click()
    page.wait_for_url(f"**/explore?*epsilon={text.removeprefix('ε = ')}*")
    settle(page)
    page.get_by_text("Export", exact=True).click(timeout=WORK)
    page.get_by_role("button", name="Share link").click(timeout=WORK)
    link = (
        page.get_by_test_id("stPopoverBody")
        .get_by_test_id("stCode")
        .inner_text()
        .strip()
    )
    other = visit("/explore?" + link.split("?", 1)[1])
    settle(other)
    expect(other.locator("h1").first).to_have_text(
        page.locator("h1").first.inner_text()
    )
    assert page.outside == []
    assert other.outside == []
    # Streamlit probes /page/_stcore first
    assert [error for error in page.errors if "404" not in error] == []


def test_each_door_and_view_is_one_step_of_the_back_button(visit):
    """A page writes what it shows into its address: that is no step, and back shows the same."""
    page = visit("/")
    settle(page)
    seen = [("", page.url)]
    for name in ("Lessons", "Ratings", "Topics", "2 Answer", "Account", "Papers"):
        go(page, name)
        seen.append((name, page.url))
    first = page.evaluate("history.length") - len(seen) + 1
    assert first in (1, 2)  # with the empty page of a new window, or without
    for name, address in reversed(seen[:-1]):
        page.go_back()
        await_view(page, name)
        before = urlsplit(address)
        now = urlsplit(page.url)
        assert now.path == before.path
        assert set(parse_qsl(before.query)) <= set(parse_qsl(now.query))
    page.reload()
    await_view(page, "")
    assert urlsplit(page.url).path == "/"
    assert not urlsplit(page.url).query


def test_a_section_leads_from_another_of_its_views_to_the_first(visit):
    page = visit("/explore?view=topics")
    await_view(page, "Topics")
    go(page, "Ratings")
    page.go_back()
    await_view(page, "Topics")


def test_the_menu_of_a_narrow_window_closes_after_a_choice(visit):
    page = visit("/", viewport={"width": 700, "height": 900})
    settle(page)
    page.get_by_test_id("stExpandSidebarButton").click()
    menu = page.get_by_test_id("stSidebar")
    menu.get_by_test_id("stSidebarNavLink").get_by_text("Papers", exact=True).click()
    page.wait_for_url("**/papers")
    expect(menu).to_have_attribute("data-collapsed", "true")


def test_explore_follows_a_held_handle_and_keeps_what_it_is_let_go_at(visit):
    page = visit(f"/explore?{SMALL}&epsilon=5")
    headline(page, "At ε = 5,")
    settle(page)
    expect(page.locator(".hero circle.draw")).not_to_have_count(3, timeout=WORK)
    settle(page)
    before = [page.locator(selector).inner_text() for selector in FOLLOWERS]
    sidebar = page.get_by_test_id("stSidebar")
    slider = sidebar.get_by_role("slider")
    box = sidebar.get_by_role("textbox", name="exactly")
    slider_to(page, slider, 5)
    page.mouse.down()
    slider_to(page, slider, 0.5)
    expect(slider).to_have_attribute("aria-valuenow", "0.5")
    after = [page.locator(selector).inner_text() for selector in FOLLOWERS]
    for now, was in zip(after, before, strict=True):
        assert now != was
    expect(box).to_have_value("5")  # the session knows nothing of it yet
    page.mouse.up()
    expect(box).to_have_value("0.5")
    page.wait_for_url(re.compile(r"[?&]epsilon=0\.5(&|$)"))
    slider.focus()
    slider.press("ArrowRight")
    expect(box).not_to_have_value("0.5")
    box.fill("2")
    box.press("Enter")
    headline(page, "At ε = 2,")
    go(page, "Account")
    go(page, "Ratings")
    page.reload()
    settle(page)
    expect(box).to_have_value("2")


def test_from_an_upload_to_a_report_without_a_word_of_its_rows(visit, tmp_path):
    table = messy_table()
    (tmp_path / "visits.csv").write_bytes(table.content)
    page = visit("/choose")
    page.get_by_role("link", name="Other data").click()
    page.locator("input[type=file]").set_input_files(tmp_path / "visits.csv")
    choose(page, "What", "programme")
    page.get_by_text("half stars, 0.5 to 5").click()
    page.get_by_role("button", name="Check and use").click()
    page.get_by_role("button", name=re.compile("^Leave these")).click()
    page.get_by_role("button", name="Next: the question").click()
    each = page.get_by_role("spinbutton", name="About how many ratings per person?")
    each.fill("9")
    each.press("Enter")
    page.get_by_role("button", name="Find the answer").click()
    page.get_by_role("heading", name=re.compile("^With Spectral at ε")).wait_for(
        timeout=WORK
    )
    page.get_by_role("button", name=re.compile("^Choose on my data")).click()
    page.get_by_text("A private selection on your data cost ε = ").wait_for(
        timeout=WORK
    )
    page.get_by_role("button", name="Export").click()
    report, _ = without_rows(page, table)
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) == 1
    assert "A private selection on your data cost" in report
    assert "visits" not in page.url
    assert page.outside == []


def test_from_tune_to_a_model_and_back(visit):
    """What Tune found is exported, also after a reload; the back button leads to the same Tune."""
    page = visit(f"/choose?step=tune&{SMALL}&epsilon=5")
    headline(page, "Which parameters for Private biases at ε = 5?")
    for box, number in {"Trials": "4", "Draws": "1"}.items():
        field = page.get_by_role("spinbutton", name=box)
        field.fill(number)
        field.press("Enter")
        settle(page)
    page.get_by_role("button", name="Search", exact=True).click()
    page.get_by_role("button", name="Use these").click(timeout=WORK)
    page.get_by_role("button", name="Explore it").click()
    await_view(page, "Ratings")
    page.get_by_text("Changed parameters:").wait_for()
    page.go_back()
    await_view(page, "3 Tune")
    headline(page, "The best of 4 trials")
    expect(page.get_by_role("spinbutton", name="Trials")).to_have_value("4")
    expect(page.get_by_text("Set parameters yourself")).to_be_visible()
    expect(
        page.get_by_role("textbox", name="Prior deviation")
    ).to_be_visible()  # the form is open
    page.get_by_role("button", name="Export", exact=True).click()
    await_view(page, "4 Export")
    command = page.get_by_test_id("stCode").inner_text()
    assert "--algorithm private-bias --epsilon 5 " in command
    assert "--param prior_deviation" in command
    page.reload()
    await_view(page, "4 Export")
    expect(page.get_by_test_id("stCode")).to_have_text(command)
    page.get_by_role("button", name="Train on all ratings").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the model").click(timeout=WORK)
    assert zipfile.ZipFile(download.value.path()).testzip() is None
    page.go_back()
    await_view(page, "3 Tune")
    headline(page, "Which parameters for Private biases at ε = 5?")


def without_rows(page, table):
    """Report and notebook, in which nothing of the table's rows stands."""
    files = []
    for name in ("Page to print", "Notebook"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        files.append(Path(download.value.path()).read_text("utf-8"))
    for file in files:
        assert not {secret for secret in table.secrets if secret in file}
        assert not re.search(rf"\b{table.rows:,}\b|\b{table.rows}\b", file)
    return files


def test_from_a_lesson_to_its_code_on_a_phone(visit, server, monkeypatch):
    # codes are checked with the server's key
    monkeypatch.setenv("DPMF_DATA", str(server.data))
    name, lesson = next(iter(LESSONS.items()))
    page = visit(f"/lessons?lesson={name}", viewport={"width": 390, "height": 844})
    for part in lesson.parts:
        group = page.get_by_role("radiogroup", name=part.question)
        group.get_by_text(part.answers[part.right], exact=True).click()
        page.get_by_role("button", name="Show what happens").click()
        group.wait_for(state="detached")
        settle(page)
    page.get_by_label(lesson.own_words).fill("Because nobody can tell.")
    page.get_by_label(lesson.own_words).press("Tab")
    page.get_by_role("button", name="Send", exact=True).click()
    code = completion.read(page.get_by_test_id("stCode").inner_text())
    assert code.what == completion.mark(name)
    assert code.right == len(lesson.parts)
    assert code.n_questions == len(lesson.parts)
    assert page.evaluate("document.documentElement.scrollWidth") <= 391


def test_a_decimal_comma_in_the_box_of_epsilon_is_read_and_thousands_are_refused(visit):
    page = visit(f"/explore?{SMALL}&epsilon=5")
    headline(page, "At ε = 5,")
    box = page.get_by_test_id("stSidebar").get_by_role("textbox", name="exactly")
    box.click()
    expect(box).to_have_attribute("inputmode", "decimal")
    page.keyboard.press("Control+A")
    page.keyboard.type("2,5")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"[?&]epsilon=2\.5(&|$)"))
    expect(page.get_by_test_id("stSidebar").get_by_role("slider")).to_have_attribute(
        "aria-valuenow", "2.5"
    )
    expect(box).to_be_focused()
    box.fill("1,000")
    box.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Got '1,000'; 2.5 is used.")
    # while the page is drawn again, the former box is still there
    expect(box).to_have_count(1)
    expect(box).to_have_value("2.5")


def test_a_bad_character_in_compare_keeps_the_figure_and_is_announced(visit):
    page = visit(
        "/compare?dataset=cinema-small&methods=private-bias&epsilons=5&draws=1"
    )
    await_view(page, "Compare")
    headline(page, "At ε = 5, Private biases")
    box = page.get_by_role("textbox", name="Epsilons")
    box.fill("5, 1o")
    box.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text(
        "Got '5, 1o'. Still showing ε = 5."
    )
    settle(page)
    expect(page.locator("h1")).to_contain_text("At ε = 5, Private biases")
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    expect(box).to_have_value("5, 1o")
    expect(box).to_be_focused()


def test_a_lesson_link_shows_what_it_should_and_editing_it_unlocks_nothing(visit):
    teacher = visit(f"/explore?{SMALL}&epsilon=1")
    settle(teacher)
    teacher.get_by_role("button", name="Make a lesson link").click()
    teacher.get_by_label("Title").fill("Small ε")
    teacher.get_by_label("Title").press("Tab")
    teacher.get_by_text("as I choose").click()
    for box, control in {"Locked": "ε", "Hidden": "δ"}.items():
        choose(teacher, box, control)
        teacher.keyboard.press("Escape")
    teacher.get_by_role("button", name="Make it").click()
    link = (
        teacher.get_by_test_id("stCode")
        .filter(has_text="?class=")
        .first.inner_text()
        .strip()
    )
    query = link.split("?")[1]
    # with other values in it, and on the wrong page
    other_values = f"{query}&epsilon=10&dataset=cinema&algorithm=dpals"
    for path in (f"/explore?{other_values}", f"/glossary?{query}"):
        student = visit(path)
        headline(student, "At ε = 1, Private biases")
        student.get_by_text("Small ε").wait_for()
        box = student.get_by_label("ε, exactly")
        expect(box).to_be_disabled()
        expect(box).to_have_value("1")
        expect(student.get_by_role("textbox", name="δ")).to_have_count(0)
        expect(student.get_by_role("link", name="Glossary")).to_have_count(0)


def test_two_runs_are_ticked_and_compared(visit):
    page = visit("/runs")
    settle(page)
    expect(page.get_by_role("button", name=re.compile("report", re.I))).to_have_count(0)
    grid = page.get_by_test_id("stDataFrame").first
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    for row in (1, 2):
        page.mouse.click(box["x"] + 20, box["y"] + 35 * row + 17)
        settle(page)
    with page.expect_download() as report:
        page.get_by_role("button", name=re.compile("report", re.I)).click()
    assert "<html" in Path(report.value.path()).read_text("utf-8")


def test_on_a_phone_the_games_four_answers_are_equal_stay_in_view_and_take_keys(visit):
    page = visit("/verify?view=attack", viewport={"width": 390, "height": 844})
    settle(page)
    names = ("Ada joined", "Ben joined", "Cleo joined", "Nobody joined")
    buttons = [page.get_by_role("button", name=name) for name in names]
    boxes = [button.bounding_box() for button in buttons]
    for side in ("y", "width", "height"):
        assert max(box[side] for box in boxes) - min(box[side] for box in boxes) <= 1
    assert boxes[-1]["x"] + boxes[-1]["width"] <= 390
    assert boxes[0]["y"] + boxes[0]["height"] <= 844  # without scrolling
    buttons[1].focus()
    page.keyboard.press("Enter")
    # by chance a status (right) or an alert (wrong)
    expect(page.get_by_text(re.compile("^Round 1: "))).to_be_visible()
    expect(page.get_by_role("heading", name="Round 2 of 5")).to_be_visible()
    expect(buttons[1]).to_be_focused()


@pytest.mark.parametrize("path", ["/nothing-like-it", "/learn?view=nothing-like-it"])
def test_an_unknown_page_says_so_and_offers_all_sections(visit, path):
    page = visit(path)
    expect(page.get_by_test_id("stAlert").first).to_contain_text("nothing-like-it")
    for section in SECTIONS.values():
        expect(
            page.get_by_test_id("stPageLink-NavLink").filter(has_text=section.title)
        ).not_to_have_count(0)
