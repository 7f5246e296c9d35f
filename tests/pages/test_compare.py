"""The view Compare, driven as a person would, without a browser."""

import json

import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.runs.execution import run
from dpmf_core.runs.reports import notebook_of_sweep
from dpmf_core.runs.sweep import Method, Sweep
from dpmf_core.teaching.lesson_links import LessonLink
from pages.compare.comparison_controls import typed_epsilons, typed_values
from tests.pages.driving import app_of, behind_sidebar, settled

SCRIPT = behind_sidebar("compare/page.py")


def page(**parameters):
    defaults = {
        "dataset": "cinema-small",
        "methods": "private-bias",
        "epsilons": "1, 5",
    }
    return settled(app_of(SCRIPT, **(defaults | parameters)))


def test_a_grid_of_4096_cells_waits_for_its_button():
    values = ", ".join(f"{0.1 + 0.01 * place:.2f}" for place in range(64))
    app = page(methods="spectral", epsilons="1", draws="1")
    app.text_input(key="compare.grid").set_value(
        f"prediction_ridge = {values}; shrinkage = {values}"
    ).run()
    _, question = app.session_state["compare.question"]
    assert sum(len(point.grid) == 2 for point in question.points) == 64 * 64
    assert app.button(key="compare.confirm")


def compared(app):
    """The epsilons and the grid's parameters of the runs that the page shows."""
    _, question = app.session_state["compare.question"]
    return question.sweep.epsilons, list(question.sweep.grid)


def test_a_bad_character_in_a_box_keeps_the_last_figure_and_is_said_next_to_the_box():
    app = page(draws="1")
    title = app.title[0].value
    assert title.startswith("At ε = 1, Private biases")
    app.text_input(key="compare.epsilons").set_value("1, 5x").run()
    settled(app)
    assert app.title[0].value == title
    assert compared(app) == ((1.0, 5.0), [])
    (error,) = app.error
    assert "Got '1, 5x'. Still showing ε = 1, 5." in error.value
    assert app.text_input(key="compare.epsilons").value == "1, 5x"
    assert app.query_params["epsilons"] == "1, 5"
    app.text_input(key="compare.grid").set_value("rank: 2").run()
    assert compared(app) == ((1.0, 5.0), [])
    assert [error.value.rpartition(". ")[2] for error in app.error] == [
        "Still showing ε = 1, 5.",
        "Still showing no grid.",
    ]
    assert app.title[0].value == title


def test_a_mended_box_is_compared_and_its_complaint_goes():
    app = page(draws="1", epsilons="1")
    app.text_input(key="compare.epsilons").set_value("2,5").run()
    assert (
        "Write 2.5 for one, or 2, 5 with a space for two. Still showing ε = 1."
        in app.error[0].value
    )
    app.text_input(key="compare.epsilons").set_value("2, 5").run()
    assert not app.error
    assert compared(app)[0] == (2.0, 5.0)
    app.multiselect(key="compare.methods").set_value([]).run()
    assert (
        "Choose at least one method. Still showing Private biases."
        in app.error[0].value
    )
    assert app.query_params["methods"] == "private-bias"
    app.text_input(key="compare.grid").set_value("no_such = 1, 2").run()
    assert "None of these algorithms has a parameter" in app.error[-1].value
    assert app.error[-1].value.endswith("Still showing the last comparison.")
    assert compared(app) == ((2.0, 5.0), [])


@pytest.mark.parametrize(
    ("text", "epsilons"),
    [
        ("0.5,1,2", (0.5, 1, 2)),
        ("1,2,5", (1, 2, 5)),
        ("5, 0.1", (0.1, 5)),
        ("2.5,5", (2.5, 5)),
        ("1 2;5,", (1, 2, 5)),
    ],
)
def test_a_list_of_epsilons_is_read(text, epsilons):
    assert typed_epsilons(text) == epsilons


@pytest.mark.parametrize(
    "text", ["2,5", "1, 2,5", "0,5; 1", "1,5e-1", "2,5, 3", "0.5, 2,5"]
)
def test_a_comma_between_digits_may_be_a_point_and_is_refused(text):
    with pytest.raises(BadInput, match="may be one number or two"):
        typed_epsilons(text)
    with pytest.raises(BadInput, match="may be one number or two"):
        typed_values(f"rank = {text}")


def test_a_link_needs_no_space_after_a_comma():
    app = page(epsilons="1,5", grid="prior_deviation=1,2", draws="1")
    assert app.text_input(key="compare.epsilons").value == "1, 5"
    assert app.text_input(key="compare.grid").value == "prior_deviation=1, 2"


def test_a_link_that_cannot_be_read_is_compared_at_the_usual_epsilons():
    app = page(epsilons="1;two", draws="1", methods="private-bias")
    assert "Got '1;two'. Still showing ε = 0.5, 2, 10." in app.error[0].value
    assert compared(app)[0] == (0.5, 2.0, 10.0)


def test_the_notebook_makes_the_same_runs_again():
    sweep = Sweep(
        data={"id": "cinema-small"},
        methods=(Method(algorithm="private-bias"),),
        epsilons=(1.0,),
        delta=5e-5,
    )
    cells = json.loads(notebook_of_sweep(sweep, "rmse"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    (source,) = [source for source in sources if "\nswept = " in source]
    variables = {}
    exec(source, variables)
    (point,) = sweep.points()
    assert list(variables["swept"].runs) == [point.key]
    (row,) = variables["swept"].frame().to_dict("records")
    assert row["rmse"] == pytest.approx(run(point.spec).record.metric("rmse"))


def test_what_a_lesson_fixes_stays_and_what_it_hides_is_not_there():
    query = {
        "dataset": "cinema-small",
        "methods": "private-bias",
        "epsilons": "2",
        "draws": "1",
    }
    link = LessonLink.parse(
        page="compare",
        query=query,
        locked=("page",),
    )
    state = {"lesson.link": link, "compare.epsilons": "1, 2, 3"}
    app = app_of(SCRIPT, state, draws="9")
    settled(app)
    assert app.text_input(key="compare.epsilons").value == "2"
    assert app.text_input(key="compare.epsilons").disabled
    assert app.number_input(key="compare.draws").value == 1
    link = LessonLink.parse(
        page="compare",
        query=query,
        hidden=("page",),
    )
    app = app_of(SCRIPT, {"lesson.link": link})
    settled(app)
    assert not [
        text_input
        for text_input in app.text_input
        if text_input.key == "compare.epsilons"
    ]
