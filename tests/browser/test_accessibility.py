"""What a checker of accessibility cannot see: the paths of a keyboard and of a screen reader."""

import re

import pytest
from playwright.sync_api import expect

from dpmf_core.teaching.lessons import LESSONS
from pages.kit.base.page_table import PAGES
from tests.browser.conftest import settle

pytestmark = pytest.mark.browser
MOST_TABS = 80  # from one control of a page to another
# Notes in `announced` what a screen reader is told of live regions, in shadow trees, too.
LISTEN = """
window.announced = [];
const LIVE = "[aria-live=polite], [aria-live=assertive], [role=alert], [role=status]";
const note = (node) => {
    const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
    const around = element?.closest(LIVE);
    const regions = around ? [around] : [...(element?.querySelectorAll(LIVE) ?? [])];
    for (const region of regions) {
        const words = region.textContent.trim();
        if (words) announced.push(words);
    }
};
const listener = new MutationObserver((changes) => changes.forEach((change) => {
    change.addedNodes.forEach(note);
    if (change.type === "characterData") note(change.target);
}));
const all = { childList: true, characterData: true, subtree: true };
listener.observe(document, all);
const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options);
    listener.observe(root, all);
    return root;
};
"""
HEADINGS = """() => {
    const levels = [];
    const walk = (root) => {
        for (const element of root.children) {
            if (/^H[1-6]$/.test(element.tagName) && element.checkVisibility()) {
                levels.push([Number(element.tagName[1]), element.textContent]);
            }
            if (element.shadowRoot) walk(element.shadowRoot);
            walk(element);
        }
    };
    walk(document.body);
    return levels;
}"""
# labels whose Markdown a screen reader would read aloud, and buttons named for nothing
UNREADABLE = r"""() => {
    const found = [];
    const markdown = /\\[^\w\s]|\*\*|:material\/|:small\[|\]\(/;
    const walk = (root) => {
        for (const element of root.children) {
            const label = element.getAttribute("aria-label") ?? "";
            if (markdown.test(label)) found.push(label);
            const name = label || element.textContent.trim() || element.title;
            const isButton = element.matches("button, [role=button]") && element.checkVisibility();
            if (isButton && (!name || / icon/.test(name))) found.push(element.outerHTML);
            if (element.shadowRoot) walk(element.shadowRoot);
            walk(element);
        }
    };
    walk(document.body);
    return found;
}"""
IS_FOCUSED = "it => it.getRootNode().activeElement === it"
IN_LIVE_REGION = "it => it.closest('[aria-live], [role=alert], [role=status]') !== null"


def tab_to(page, target):
    """Press Tab until the target has the focus."""
    target.wait_for(state="attached")
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if target.evaluate(IS_FOCUSED):
            return
    raise AssertionError(f"the keyboard does not reach {target}")


def test_a_lesson_is_walked_by_keyboard_alone_and_says_each_thing_once(visit):
    page = visit("/learn", LISTEN)
    settle(page)
    (name, lesson), (_, following) = list(LESSONS.items())[:2]
    expect(page.get_by_text(f"0 of {len(LESSONS)} done")).to_be_visible()
    tab_to(page, page.get_by_role("link", name=f"0. {lesson.title}"))
    page.keyboard.press("Enter")
    page.wait_for_url(f"**lesson={name}*")
    expect(page.get_by_role("heading", name=lesson.title, level=1)).to_be_focused()
    for place, part in enumerate(lesson.parts):
        predict(page, part, is_first=place == 0)
    answer = page.get_by_role("textbox", name=lesson.own_words)
    tab_to(page, answer)
    page.keyboard.type("Because nobody can tell.")
    tab_to(page, page.get_by_role("button", name="Send", exact=True))
    page.keyboard.press("Enter")
    page.get_by_test_id("stCode").wait_for()
    settle(page)
    expect(page.get_by_role("heading", name="In your own words")).to_be_focused()
    tab_to(page, page.get_by_role("link", name=f"Next: 1. {following.title}"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=following.title, level=1)).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("link", name="All lessons")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"1 of {len(LESSONS)} done")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name=following.title, level=1)).to_be_visible()


def predict(page, part, *, is_first):
    """Answer one part rightly by keyboard; its verdict then has the focus and is read once."""
    group = page.get_by_role("radiogroup", name=part.question, exact=True)
    show = page.get_by_role("button", name="Show what happens", exact=True)
    if is_first:
        tab_to(page, show)
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("Predict first")
        settle(page)
        assert (
            sum("Predict first:" in words for words in page.evaluate("announced")) == 1
        )
        page.keyboard.press("Shift+Tab")
    else:
        tab_to(page, group.get_by_role("radio").first)
    expect(group.get_by_role("radio").first).to_be_focused()
    page.keyboard.press("Space")
    for _ in range(part.right):
        page.keyboard.press("ArrowDown")
    expect(group.get_by_role("radio").nth(part.right)).to_be_checked()
    tab_to(page, show)
    page.keyboard.press("Enter")
    group.wait_for(state="detached")
    verdict = page.get_by_role("heading", name="That is right.", level=3).last
    expect(verdict).to_be_focused()
    assert not verdict.evaluate(IN_LIVE_REGION)
    settle(page)
    expect(verdict).to_be_focused()
    assert [
        words for words in page.evaluate("announced") if part.because[:40] in words
    ] == []
    assert_in_order(page.evaluate(HEADINGS))
    assert page.evaluate(UNREADABLE) == []


def assert_in_order(headings):
    """One h1, which comes first, and no level is left out."""
    levels = [level for level, _ in headings]
    assert levels[0] == 1, headings
    assert levels.count(1) == 1, headings
    for before, (level, words) in zip(levels, headings[1:], strict=False):
        assert level <= before + 1, f"{words!r} is h{level} after h{before}"


def test_a_moved_slider_says_its_value_shortly_and_what_it_means_once(visit):
    page = visit(
        "/explore?dataset=cinema-small&algorithm=private-bias&epsilon=2", LISTEN
    )
    settle(page)
    slider = page.get_by_test_id("stSidebar").get_by_role("slider")
    expect(slider).to_have_attribute("aria-valuetext", "ε = 2")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    page.wait_for_url(re.compile(r"[?&]epsilon=1"))
    settle(page)
    assert re.fullmatch(
        r"ε = 1[.\d]*(, .{1,40})?", slider.get_attribute("aria-valuetext")
    )
    meanings = [words for words in page.evaluate("announced") if "50:50" in words]
    assert len(meanings) == 1
    handle_on_start(visit)


def handle_on_start(visit):
    page = visit("/", LISTEN, reduced_motion="reduce")
    settle(page)
    handle = page.get_by_role("slider", name="Epsilon")
    handle.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => announced.some((words) => words.includes('50:50'))")
    settle(page)
    assert sum("50:50" in words for words in page.evaluate("announced")) == 1
    assert len(handle.get_attribute("aria-valuetext")) < 40


@pytest.mark.slow
@pytest.mark.parametrize("name", [page.id for page in PAGES])
def test_headings_are_in_order_and_names_are_plain_on_each_page(visit, name):
    page = visit(f"/{name}")
    settle(page)
    assert_in_order(page.evaluate(HEADINGS))
    assert page.evaluate(UNREADABLE) == []


def test_buttons_of_a_sequence_say_what_they_move_and_remove(visit):
    """Two pages of one title have names of their own, and their questions next to them."""
    page = visit("/learn?view=glossary")
    settle(page)
    page.get_by_role("button", name="Make a lesson link").click()
    form = page.get_by_role("dialog")
    for question in ("What is *clipping*?", "What is δ?"):
        form.get_by_label("Title").fill("Words")
        form.get_by_label("Question").fill(question)
        form.get_by_role("button", name="Add to a sequence").click()
        expect(form.get_by_text(f"Its question: {question}")).to_be_visible()
    form.get_by_role("link", name="The sequence has 2 pages: arrange it").click()
    expect(page.get_by_role("heading", name="For teachers")).to_be_visible()
    form.wait_for(state="detached")  # it repeats the question that was added last
    settle(page)
    expect(page.get_by_text("What is *clipping*?")).to_be_visible()
    expect(page.get_by_text("What is δ?")).to_be_visible()
    for place in (1, 2):
        thing = f"page {place}, Glossary: Words"
        for action in (
            f"Move {thing} earlier",
            f"Move {thing} later",
            f"Remove {thing}",
        ):
            expect(page.get_by_role("button", name=action, exact=True)).to_have_count(1)
    page.get_by_role(
        "button", name="Remove page 1, Glossary: Words", exact=True
    ).click()
    expect(page.get_by_text("What is *clipping*?")).to_have_count(0)
    expect(page.get_by_text("What is δ?")).to_be_visible()
