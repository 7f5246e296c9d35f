"""The view Compare, driven as a person would, without a browser."""

import json

import pytest

from dpmf_core.runs.execution import run
from dpmf_core.runs.reports import notebook_of_sweep
from dpmf_core.runs.sweep import Method, Sweep
from dpmf_core.teaching.lesson_links import LessonLink
from tests.pages.driving import app_of, behind_sidebar, settled

SCRIPT = behind_sidebar("compare/page.py")


def page(**parameters):
    defaults = {"data": "cinema-small", "methods": "private-bias", "epsilons": "1, 5"}
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


def test_the_notebook_makes_the_same_runs_again():
    sweep = Sweep(
        data={"id": "cinema-small"},
        methods=(Method(algorithm="private-bias"),),
        epsilons=(1.0,),
        delta=5e-5,
    )
    cells = json.loads(notebook_of_sweep(sweep.model_dump(mode="json"), "rmse"))["cells"]
    sources = ("".join(cell["source"]) for cell in cells)
    variables = {}
    exec(next(it for it in sources if "\npoints = " in it), variables)
    (point,) = variables["points"]
    table = variables["rows"]([point], {point.key: run(point.spec)})
    assert table[0]["rmse"] == pytest.approx(run(point.spec).record.metric("rmse"))


def test_what_a_lesson_fixes_stays_and_what_it_hides_is_not_there():
    query = {"data": "cinema-small", "methods": "private-bias", "epsilons": "2", "draws": "1"}
    link = LessonLink.parse(page="compare", query=query, locked=("page",))
    state = {"lesson.link": link, "compare.epsilons": "1, 2, 3"}
    app = app_of(SCRIPT, state, draws="9")
    settled(app)
    assert app.text_input(key="compare.epsilons").value == "2"
    assert app.text_input(key="compare.epsilons").disabled
    assert app.number_input(key="compare.draws").value == 1
    link = LessonLink.parse(page="compare", query=query, hidden=("page",))
    app = app_of(SCRIPT, {"lesson.link": link})
    settled(app)
    assert not [it for it in app.text_input if it.key == "compare.epsilons"]
