"""One question has one answer: the same method and the same number at every entry point.

The question: what does the best proven method keep on Cinema at epsilon 2, by RMSE? The runs are
those of the package, so nothing is trained.
"""

import contextlib
import json

import pytest

import dpmf
from dpmf_core import algorithms
from dpmf_core.api import sweeping
from dpmf_core.api.sweeping import Swept
from dpmf_core.cli import main
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.conclusions import kept_words, scale_words, share_text
from dpmf_core.runs.first_views import DEFAULT_EPSILON, shipped_draws, usual_run
from dpmf_core.runs.record import Run
from dpmf_core.runs.references import GLOBAL_MEAN, OWN_MEAN, best_known, proven_methods
from dpmf_core.runs.reports import notebook_of_sweep
from dpmf_core.runs.store import Store
from dpmf_core.runs.sweep import Method, Sweep
from pages.start import price
from tests.pages.conftest import fresh_store
from tests.pages.driving import app_of, behind_sidebar, component, settled

DATA = "cinema"
SEEDS = (0, 1, 2)
REFERENCES = (best_known("rmse"), OWN_MEAN, GLOBAL_MEAN)
METHODS = (*proven_methods("ratings"), *REFERENCES)
TABLE = shipped_draws("ratings", DATA).by("rmse")
BEST = TABLE.best(DEFAULT_EPSILON)
# such as "keeps 83% of what sharing ratings is worth", without the range over draws
FINDING = kept_words(TABLE, BEST).partition(" (")[0]


def sweep():
    return Sweep(
        data={"id": DATA},
        methods=tuple(Method(algorithm=name) for name in METHODS),
        epsilons=(DEFAULT_EPSILON,),
        seeds=SEEDS,
        delta=usual_run("ratings", DATA).budget.delta,
    )


@pytest.fixture(autouse=True)
def empty_store(tmp_path):
    """Pages read the package's runs."""
    with fresh_store(tmp_path):
        yield


@pytest.fixture
def stored_runs(empty_store):
    """The package's runs of the question, without models, as if they had been made here."""
    with contextlib.closing(Store()) as store:
        for point in sweep().points():
            record = shipped_runs.record(point.spec)
            store.put(Run(record))


def words_of(app):
    texts = (*app.title, *app.markdown, *app.caption)
    lines = [str(text.value).replace("**", "") for text in texts]
    return "\n".join(lines)


def test_the_question_has_an_answer():
    assert BEST is not None
    assert FINDING.startswith("keeps ")
    assert share_text(TABLE.share(BEST)) in FINDING


def test_the_start_page_has_the_answer():
    (stop,) = [
        stop
        for stop in price.stops(price.places(DEFAULT_EPSILON))
        if stop["epsilon"] == DEFAULT_EPSILON
    ]
    said = [fact["words"] for fact in stop["facts"]]
    assert f"{BEST.label} {FINDING}." in said
    assert stop["kept"] == TABLE.share(BEST)


def test_explore_has_the_answer():
    query = {"dataset": DATA, "epsilon": f"{DEFAULT_EPSILON:g}"}
    app = settled(app_of(behind_sidebar("explore/page.py"), **query))
    story = component(app, "hero")
    (point,) = [
        point for point in story["points"] if point["epsilon"] == DEFAULT_EPSILON
    ]
    assert f"{BEST.label} {FINDING}" in f"{point['title']} {point['sentence']}"


def test_compare_has_the_answer():
    query = {"dataset": DATA, "epsilons": f"{DEFAULT_EPSILON:g}"}
    app = settled(app_of(behind_sidebar("compare/page.py"), **query))
    assert BEST.label in app.title[0].value
    assert f"It {FINDING}" in words_of(app)


def test_choose_has_the_answer_on_its_page():
    query = {"dataset": DATA, "epsilon": f"{DEFAULT_EPSILON:g}", "draws": "few"}
    app = settled(app_of("choose/page.py", **query))
    assert (
        app.title[0].value
        == f"Use {BEST.label} at ε = {DEFAULT_EPSILON:g}: it {FINDING}"
    )
    assert scale_words(TABLE) in words_of(app)


def test_choose_has_the_answer_on_the_command_line_in_print_and_in_its_notebook(
    capsys, tmp_path
):
    question = ["--dataset", DATA, "--spend", f"{DEFAULT_EPSILON:g}"]
    files = [
        "--report",
        str(tmp_path / "print.html"),
        "--notebook",
        str(tmp_path / "book.ipynb"),
    ]
    assert main(["choose", *question, *files, "--json"]) == 0
    for file in ("print.html", "book.ipynb"):
        said = (tmp_path / file).read_text("utf-8").replace("\u00a0", " ")
        assert BEST.label in said
        assert FINDING in said
    found = json.loads(capsys.readouterr().out)
    assert found["best"]["method"] == BEST.algorithm
    assert found["best"]["share_kept"] == TABLE.share(BEST)
    assert found["headline"].endswith(f"it {FINDING}")


def test_the_command_line_has_the_answer(stored_runs, capsys):
    options = {
        "--dataset": DATA,
        "--algorithms": ",".join(METHODS),
        "--epsilons": f"{DEFAULT_EPSILON:g}",
        "--seeds": "0-2",
    }
    arguments = []
    for option in options.items():
        arguments.extend(option)
    assert main(["sweep", *arguments]) == 0
    said = capsys.readouterr().out
    assert f"At ε = {DEFAULT_EPSILON:g}, {BEST.label} {FINDING}" in said
    (row,) = [
        line for line in said.splitlines() if line.startswith(f"{BEST.algorithm} ")
    ]
    assert row.endswith(f" {share_text(TABLE.share(BEST))}")


def test_a_sweep_in_python_has_the_answer(stored_runs):
    swept = dpmf.sweep(DATA, METHODS, epsilons=DEFAULT_EPSILON, seeds=SEEDS)
    best = swept.draws.by("rmse").best(DEFAULT_EPSILON)
    assert best.algorithm == BEST.algorithm
    assert best.draws == BEST.draws
    summary = swept.summary().set_index("method")
    assert summary.loc[BEST.algorithm, "kept"] == TABLE.share(BEST)
    assert summary.loc[BEST.algorithm, "median"] == BEST.median


def test_errors_of_private_data_have_no_share():
    points = [point for point in sweep().points() if point.spec.seed == 0]
    records = {point.key: shipped_runs.record(point.spec) for point in points}
    runs = {key: Run(record) for key, record in records.items()}
    public = Swept(points, runs)
    secret = {
        key: Run(record.model_copy(update={"public": False}))
        for key, record in records.items()
    }
    assert public.summary()["kept"].notna().all()
    assert Swept(points, secret).summary()["kept"].isna().all()


def test_a_notebook_has_the_answer(capsys, monkeypatch):
    def shipped(spec, own_data, ledger, store):
        return Run(shipped_runs.record(spec))

    monkeypatch.setattr(sweeping, "one_run", shipped)
    cells = json.loads(notebook_of_sweep(sweep(), "rmse"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    variables = {}
    for source in sources:
        if "pip install" not in source and "plot" not in source:
            exec(source, variables)
    assert (
        f"At ε = {DEFAULT_EPSILON:g}, {BEST.label} {FINDING}" in capsys.readouterr().out
    )


@pytest.mark.parametrize("data", ["cinema", "cinema-small"])
def test_at_every_stored_epsilon_a_proven_method_is_best(data):
    judgement = shipped_draws("ratings", data).by("rmse")
    assert not judgement.table.missing
    assert judgement.epsilons == judgement.planned_epsilons
    proven = set()
    for name in proven_methods("ratings"):
        proven.add(algorithms.find(name).title)
    assert {one.label for one in judgement.best_line} <= proven
