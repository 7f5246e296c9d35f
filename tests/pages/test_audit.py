"""The Audit page: the sentence, the figure's two curves, and faults that a class can catch."""

from streamlit.testing.v1 import AppTest

from dpmf_core.audit.canaries import rounded
from dpmf_core.audit.membership_inference import AuditSpec
from dpmf_core.serving.lesson_links import LessonLink
from tests.pages.driving import ROOT, frames, settled

PAGE = ROOT / "pages" / "audit" / "page.py"


def after_audit(app: AppTest) -> AppTest:
    """The page after its audit, also where this machine is so slow that it asks before."""
    settled(app)
    for button in app.button:
        if str(button.key) == "audit.confirm":
            button.click()
            settled(app)
    return app


def page(attack: str = "private-bias", runs: int = 200, **state: object) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=60)
    app.query_params["attack"] = attack
    app.session_state["audit.runs"] = runs
    for name, value in state.items():
        app.session_state[f"audit.{name}"] = value
    return after_audit(app)


def test_the_sentence_says_what_the_audit_finds() -> None:
    app = page("private-svd", 100, epsilon=3.0)
    audit = AuditSpec.parse(algorithm="private-svd", epsilon=3.0, runs=100).measure()
    assert (
        app.title[0].value
        == f"The attack on Private SVD shows ε ≥ {rounded(audit.lower):.2f}; at most 3.00 is proved"
    )
    assert app.query_params["attack"] == "private-svd"


def test_every_epsilon_stands_with_its_meaning() -> None:
    """Proved, lost by the canary, pair test, error rates, at best; and by which rule bounds
    were found.
    """
    app = page("private-svd", 100, epsilon=3.0)
    table = frames(app)[-1]
    assert list(table["by"]) == [
        "proved",
        "lost by this canary",
        "pair test",
        "error rates",
        "at best",
    ]
    assert list(table["ε"])[:2] == ["≤ 3.00", "= 3.00"]
    assert all(table["what it means"].str.len() > 20)
    assert any(
        "μ is bounded, and given as the ε of one Gaussian release of it" in caption.value
        for caption in app.caption
    )


def test_no_mu_where_a_start_comes_from_the_data() -> None:
    app = page("dp-nmf", 40)
    app.selectbox(key="audit.fault.dp-nmf").set_value("exact-start")
    after_audit(app)
    assert list(frames(app)[-1]["by"]) == ["proved", "error rates", "at best"]
    assert any("no Gaussian mechanism" in caption.value for caption in app.caption)


def test_a_planted_fault_is_caught() -> None:
    app = page()
    app.selectbox(key="audit.fault.private-bias").set_value("unlisted-release")
    after_audit(app)
    assert app.title[0].value.startswith("Caught. The attack on Private biases shows ε ≥")


def test_a_secret_fault_is_told_last() -> None:
    app = page()
    app.selectbox(key="audit.fault.private-bias").set_value("secret")
    after_audit(app)
    assert any("What had been planted" in it.label for it in app.expander)
    inside = {caption.value for it in app.expander for caption in it.caption}
    assert any("mechanism" in text or "noise" in text for text in inside)
    assert not any(
        "noise:" in caption.value or "mechanism" in caption.value
        for caption in app.caption
        if caption.value not in inside
    )


def test_what_proves_nothing_shows_no_promise() -> None:
    app = page("sketch", 60)
    assert "nothing is proved" in app.title[0].value
    assert frames(app)[-1]["ε"].iloc[0] == "none"
    assert any("implicitly provide" in element.value for element in app.markdown)


def test_an_unknown_algorithm_in_the_link_is_the_first_one() -> None:
    app = page("<script>", 40)
    assert app.selectbox(key="audit.algorithm").value == "private-svd"


def test_a_link_holds_the_audit_and_a_bad_one_is_named() -> None:
    app = AppTest.from_file(str(PAGE), default_timeout=60)
    for name, value in {
        "attack": "dpals",
        "at": "3",
        "runs": "40",
        "fault": "no-clipping",
        "canary": "rating",
        "aseed": "-7",
    }.items():
        app.query_params[name] = value
    after_audit(app)
    values = {
        name: app.session_state[f"audit.{name}"]
        for name in ("epsilon", "runs", "fault.dpals", "unit.dpals", "seed")
    }
    assert values == {
        "epsilon": 3.0,
        "runs": 40,
        "fault.dpals": "no-clipping",
        "unit.dpals": "rating",
        "seed": 0,
    }
    assert app.query_params["aseed"] in ("0", ["0"])


def test_what_a_lesson_fixes_stays_whatever_the_browser_says() -> None:
    link = LessonLink.parse(
        page="audit",
        query={"attack": "private-bias", "runs": "40", "fault": "unlisted-release"},
        locked=("page",),
    )
    app = AppTest.from_file(str(PAGE), default_timeout=60)
    app.session_state["lesson.link"] = link
    app.session_state["audit.runs"] = 5000
    app.session_state["audit.algorithm"] = "dpals"
    app.query_params["fault"] = "none"
    after_audit(app)
    assert (
        app.number_input(key="audit.runs").value == 40
        and app.number_input(key="audit.runs").disabled
    )
    assert (
        app.selectbox(key="audit.algorithm").value == "private-bias"
        and app.selectbox(key="audit.algorithm").disabled
    )
    assert app.selectbox(key="audit.fault.private-bias").value == "unlisted-release"


def test_what_a_lesson_hides_is_not_there() -> None:
    app = AppTest.from_file(str(PAGE), default_timeout=60)
    app.session_state["lesson.link"] = LessonLink.parse(
        page="audit", query={"attack": "private-bias", "runs": "40"}, hidden=("page",)
    )
    after_audit(app)
    assert not app.number_input and not app.selectbox and app.title
