"""Which private method, at which epsilon: question, answer, report and notebook."""

import ast
import html
import json
import math
import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from dpmf_core.base.errors import BadInput
from dpmf_core.cli.choosing import with_account
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import Gaussian, Relation, Status, sequence
from dpmf_core.privacy.accounting import group_epsilon
from dpmf_core.privacy.budget import AccountBudget
from dpmf_core.privacy.decision import planned_run
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.privacy.odometer import Charge
from dpmf_core.privacy.selection import exception_of_best, price_of_best, price_of_choosing
from dpmf_core.runs.noisy_errors import score_event
from dpmf_core.runs.planning import account_of, prepare
from dpmf_core.runs.privacy_cost import Reference
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.tuning.choosing import wording
from dpmf_core.runs.tuning.choosing.answer import Answer, Place
from dpmf_core.runs.tuning.choosing.finding import (
    CHOSEN_ON_STAND_IN,
    Finding,
    notebook,
    report,
    selection,
)
from dpmf_core.runs.tuning.choosing.question import Question, Runs
from dpmf_core.runs.tuning.private_selection import SelectionResult

SHAPE = Shape(600, 30, (1.0, 5.0))
STAND_IN = "cinema?users=600&items=30&density=0.5&bounds=1,5"
DELTA = 1e-5


def question(**parts):
    fields = {"data": {"id": STAND_IN}, "delta": DELTA, "draws": 2} | parts
    if not {"spend", "keep", "reach"} & set(parts):
        fields["spend"] = 2.0
    return Question.parse(**fields)


def test_candidates_are_proven_for_a_person_and_runs_are_distinct():
    runs = Runs(question(every=True), SHAPE)
    assert {"spectral", "dpals", "private-bias"} <= set(runs.methods)
    assert not {"sketch", "input-perturbation", "dpnmf-laplace"} & set(runs.methods)
    assert "conditional" in runs.refusals["Input perturbation"]
    assert "trusted curator" in runs.refusals["Local biases"]
    for point in runs.points:
        ready = prepare(point.spec, SHAPE)
        assert (point.epsilon is None) == (not ready.guarantee.has_epsilon)
    assert len(runs.specs) == len(runs.points)


def test_a_group_has_the_epsilon_that_was_asked_for():
    group_question = question(protect="group", group=4, spend=3.0)
    runs = Runs(group_question, SHAPE)
    dear = [point for point in runs.points if runs.epsilon(point) == 3.0]
    assert {point.spec.algorithm for point in dear} == set(runs.methods)
    for point in dear:
        plan = prepare(point.spec, SHAPE).plan
        assert group_epsilon(plan, DELTA, Relation.ADD_REMOVE, 4) == pytest.approx(3.0, rel=1e-6)
        assert point.epsilon is not None and point.epsilon < 3.0 / 4
    assert question().of_one(3.0) == 3.0
    # one rating is protected by hiding that a whole row was replaced
    for point in Runs(question(protect="rating"), SHAPE).points:
        if point.spec.budget is not None:
            assert point.spec.budget.relation is Relation.REPLACE_ONE


def place(method, epsilon, *values):
    return Place(method, epsilon, values, tuple((1.0 - value) / 0.2 for value in values))


def answer_of(its_question, *places):
    draws = len(places[0].values)
    without_noise = {it.method: (0.85,) * draws for it in places}
    return Answer(its_question, places, "bmf", (0.8,) * draws, (1.0,) * draws, without_noise)


PLACES = (
    place("spectral", 0.5, 0.99, 1.01),
    place("dpals", 0.5, 0.95, 0.95),
    place("spectral", 1.0, 0.92, 0.92),
    place("dpals", 1.0, 0.94, 0.94),
    place("spectral", 2.0, 0.86, 0.88),
    place("dpals", 2.0, 0.94, 0.96),
)


@pytest.mark.parametrize(
    ("wishes", "method", "epsilon"),
    [
        ({"spend": 2.0}, "spectral", 2.0),
        ({"spend": 1.0}, "spectral", 1.0),
        ({"spend": 0.5}, "dpals", 0.5),
        ({"keep": 0.35}, "spectral", 1.0),
        ({"keep": 0.65}, "spectral", 2.0),
        ({"reach": 0.95}, "dpals", 0.5),
    ],
)
def test_the_cheapest_or_the_best_that_keeps_what_was_asked(wishes, method, epsilon):
    best = answer_of(question(**wishes), *PLACES).best
    assert (best.method, best.epsilon) == (method, epsilon)


@pytest.mark.parametrize("wishes", [{"keep": 0.9}, {"reach": 0.8}])
def test_where_nothing_is_good_enough_nothing_is_named(wishes):
    assert answer_of(question(**wishes), *PLACES).best is None
    # better than guessing in the median, and worse in one draw, is no gain either
    by_chance = answer_of(question(), place("spectral", 2.0, 0.9, 0.92, 1.01))
    assert by_chance.best is None


def test_a_place_is_compared_with_its_method_without_noise_the_best_known_and_guessing():
    answer = answer_of(question(), *PLACES)
    cost = answer.cost(PLACES[4])
    assert (cost.noise, cost.method, cost.total) == (0.02, 0.05, 0.07)
    lines = answer.lines
    assert [(it.reference, it.value) for it in lines] == [
        (Reference.WITHOUT_NOISE, 0.85),
        (Reference.BEST_KNOWN, 0.8),
        (Reference.GUESS, 1.0),
    ]
    assert all(it.label in html.unescape(report(small_finding())) for it in lines)


def test_every_candidate_also_runs_without_noise():
    runs = Runs(question(), SHAPE)
    open_methods = {it.label for it in runs.points if it.spec.without_noise}
    assert open_methods == set(runs.methods)
    assert runs.plain == ("bmf",)
    lists = Runs(question(goal="lists", reach=0.1), Shape(600, 60, (1.0, 5.0)))
    assert lists.plain == ("ease", "popularity")


def test_the_front_only_gets_better():
    front = answer_of(question(), *PLACES).front
    expected = [("dpals", 0.5), ("spectral", 1.0), ("spectral", 2.0)]
    assert [(it.method, it.epsilon) for it in front] == expected


@pytest.mark.parametrize(
    "parts",
    [
        {"spend": 2.0, "keep": 0.8}, {"spend": -1.0}, {"keep": 1.5}, {"protect": "group"},
        {"group": 3}, {"draws": 1}, {"goal": "stars"},
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_a_sentence(parts):
    with pytest.raises(BadInput):
        question(**parts)


def small_finding(**parts):
    facts = {"title": "Cinema, small", "path": "cinema-small", "public": True} | parts
    return Finding(Runs(question(), SHAPE), answer_of(question(), *PLACES), **facts)


def test_the_notebook_finds_the_answer_again_and_trains_it(tmp_path):
    finding = small_finding(parameters={"rank": 3})
    cells = [it for it in json.loads(notebook(finding))["cells"] if it["cell_type"] == "code"]
    code = "".join(cells[1]["source"])
    called = []
    names = {"sys": sys, "subprocess": SimpleNamespace(run=called_with(called))}
    exec(compile(code, "cell", "exec"), names)
    assert called[0][1:4] == ["-m", "dpmf", "choose"]
    assert called[0][3:] == finding.again_arguments
    training = "".join(cells[-1]["source"])
    fits = [it for it in ast.walk(ast.parse(training)) if isinstance(it, ast.Call)]
    given = {word.arg: ast.literal_eval(word.value) for word in fits[0].keywords}
    assert given == {"epsilon": 2.0, "delta": DELTA, "relation": "add-remove", "rank": 3}


def called_with(calls):
    return lambda arguments, check: calls.append(arguments)


SMALLER = "cinema?users=120&items=20&density=0.4&bounds=1,5"
METHODS = ("private-bias", "spectral", "private-svd")
LARGER_DELTA = 1e-4


def selection_of(**parts):
    question = Question.parse(data={"id": SMALLER}, delta=LARGER_DELTA, spend=2.0, **parts)
    return selection(question, DataSpec(id=SMALLER), METHODS, 2.0, 5.0)


def test_after_a_private_selection_everything_is_of_the_method_that_it_chose():
    """Title, sentences, ring, table, command and cost; the measured best is the rival."""
    result = SelectionResult(
        selection_of(), 0.9, {"method": "dpals"}, 3.29, False, "", interval=(0.85, 0.95)
    )
    before = small_finding(public=False)
    finding = before.with_selection(result)
    best = finding.answer.best
    assert (best.method, best.epsilon, best.value) == ("dpals", 2.0, 0.95)
    assert finding.answer.measured_best.method == finding.answer.next_best.method == "spectral"
    assert finding.answer.cheaper == PLACES[3]  # DPALS itself, at ε = 1
    assert finding.place == best and finding.configuration["algorithm"] == "dpals"
    assert best.title in finding.headline and best.title in finding.name
    evidence = wording.sentences(finding.answer)
    assert best.title in evidence[0] and "0.95" in evidence[1]
    rows = re.findall(r"<tr>.*?</tr>", report(finding), re.S)
    assert [PLACES[5].title in row for row in rows if "the answer" in row] == [True]
    assert CHOSEN_ON_STAND_IN in report(before)
    assert CHOSEN_ON_STAND_IN not in report(finding) + notebook(finding)
    assert "3.29" in finding.cost and finding.cost in html.unescape(report(finding))
    none = replace(result, score=None, winner={}, interval=None)
    assert before.with_selection(none).answer == before.answer


def test_its_price_is_that_of_training_and_score_for_one_and_for_a_group():
    mu = gaussian_mu(2.0, LARGER_DELTA)
    one = selection_of()
    trial = sequence(Gaussian(1 / mu, "training"), score_event(one.score_noise))
    assert one.epsilon == price_of_choosing(trial, 5.0, LARGER_DELTA).best_of["geometric"] > 2
    of_three = selection_of(protect="group", group=3)
    score = sequence(Gaussian(one.score_noise / 3, "score"))
    trial = sequence(Gaussian(1 / mu, "training"), score)
    assert of_three.group_price(3) == pytest.approx(
        price_of_choosing(trial, 5.0, LARGER_DELTA).best_of["geometric"], rel=1e-6
    )
    assert of_three.epsilon < one.epsilon
    assert selection_of(protect="rating").budget.relation is Relation.REPLACE_ONE


def test_a_method_without_a_proof_for_a_person_is_not_chosen_among():
    question = Question.parse(data={"id": SMALLER}, delta=LARGER_DELTA, spend=2.0)
    with pytest.raises(BadInput):
        selection(question, DataSpec(id=SMALLER), ("private-bias", "input-perturbation"), 2.0, 5.0)


# ---- the total of a decision ---------------------------------------------------------------------


def gaussian_delta(mu, epsilon):
    """Balle & Wang 2018, Theorem 8, as written."""
    return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


def mu_at(epsilon, delta):
    return brentq(lambda mu: gaussian_delta(mu, epsilon) - delta, 1e-6, 20.0, xtol=1e-14)


def test_after_a_selection_the_sentence_for_a_boss_composes_selection_and_training():
    spec = selection_of()
    result = SelectionResult(spec, 0.9, {"method": "dpals"}, spec.epsilon, False, "")
    finding = small_finding(public=False).with_selection(result)
    together = spec.epsilon + 2.0
    assert finding.summary.startswith(f"ε = {epsilon_text(together)} in total (δ = 1.1e-4,")
    most = math.ceil(1000 / (1 + math.exp(-together))) / 10
    assert f"at most {most}% sure that a given person took part" in finding.summary
    assert f"drawn before {epsilon_text(spec.epsilon)}, planned 2.00" in finding.summary
    assert finding.headline.startswith(f"ε = {epsilon_text(together)} in total: ")
    assert finding.name.startswith(f"ε = {epsilon_text(together)} in total: ")
    for document in (report(finding), notebook(finding)):
        text = html.unescape(document)
        assert f"ε = {epsilon_text(together)} in total" in text
    assert html.escape(finding.summary, quote=False) in report(finding)


def test_the_account_s_other_entries_are_in_the_total_too():
    """Noisy errors and a run of before, both Gaussian, compose exactly with the training."""
    earlier = (planned_run(1.0, DELTA, title="noisy errors"), planned_run(3.0, DELTA))
    finding = small_finding(public=False, earlier=earlier)
    mu = math.sqrt(sum(mu_at(epsilon, DELTA) ** 2 for epsilon in (1.0, 3.0, 2.0)))
    exact = brentq(lambda epsilon: gaussian_delta(mu, epsilon) - DELTA, 0.0, 50.0)
    decision = finding.decision
    assert decision.total.epsilon == pytest.approx(exact, rel=1e-6)
    exception = norm.cdf(mu / 2 - exact / mu)
    assert decision.certainty.exception == pytest.approx(exception, rel=1e-4)
    uncovered = Charge("ALS")
    also = small_finding(public=False, earlier=(*earlier, uncovered))
    assert "Not counted: 1 run without a guarantee" in also.summary
    assert "Not counted: 1 run without a guarantee" in also.training


def test_without_anything_before_the_total_is_that_of_training():
    summary = small_finding().summary
    assert summary.startswith("ε = 2.00 in total (δ = 1e-5, per user, add/remove, exact): ")
    assert "at most 88.1% sure that a given person took part" in summary
    mu = mu_at(2.0, DELTA)
    cases = math.ceil(1e5 * norm.cdf(mu / 2 - 2.0 / mu))
    assert f"In up to {cases} of 100,000 cases" in summary


def test_a_budget_s_total_stands_at_its_delta():
    budget = AccountBudget(epsilon=9.0, delta=1e-6)
    decision = small_finding(public=False, budget=budget).decision
    mu = mu_at(2.0, DELTA)
    exact = brentq(lambda epsilon: gaussian_delta(mu, epsilon) - 1e-6, 0.0, 50.0)
    assert decision.total.epsilon == pytest.approx(exact, rel=1e-6)
    assert decision.certainty.delta == 1e-6


def test_for_a_group_everything_counts_for_the_group():
    spec = selection_of(protect="group", group=3)
    result = SelectionResult(spec, 0.9, {"method": "dpals"}, spec.epsilon, False, "")
    finding = Finding(
        Runs(question(protect="group", group=3), SHAPE),
        answer_of(question(protect="group", group=3), *PLACES),
        "mine",
        "mine.csv",
        False,
    )
    earlier = replace(finding, earlier=(planned_run(1.0, DELTA),)).decision
    mu = math.hypot(3 * mu_at(1.0, DELTA), mu_at(2.0, DELTA))
    exact = brentq(lambda epsilon: gaussian_delta(mu, epsilon) - DELTA, 0.0, 80.0)
    assert earlier.total.epsilon == pytest.approx(exact, rel=1e-6)
    selected = finding.with_selection(result)
    assert selected.decision.total.epsilon == pytest.approx(spec.group_price(3) + 2.0, rel=1e-6)
    assert "per group of up to 3 people" in selected.summary
    another = replace(selected, earlier=(replace(spec_charge(spec), title="another"),))
    assert another.decision is None and another.summary.startswith("No total is known")


def spec_charge(spec):
    return Charge(spec.title, (), Status.PROVEN, delta=LARGER_DELTA, price=spec.prices)


def test_the_exception_of_a_selection_bounds_simulated_selections():
    """Trials of one Gaussian figure each; the best is the largest, as with a score that it is."""
    delta, mean, mu = 1e-2, 3.0, 0.8
    event = Gaussian(1 / mu)
    price = price_of_best(event, "geometric", mean, delta)
    bound = exception_of_best(event, "geometric", mean, price)
    x = np.linspace(-10.0, 12.0, 400_001)
    step = x[1] - x[0]

    def density_of_best(shift):
        """f'(F(y)) q(y), f the generating function of a geometric number."""
        below = norm.cdf(x - shift)
        return norm.pdf(x - shift) * mean / (mean - (mean - 1) * below) ** 2

    with_you, without = density_of_best(mu), density_of_best(0.0)
    assert with_you.sum() * step == pytest.approx(1.0, rel=1e-3)
    loss = np.log(with_you / without)
    truth = with_you[loss > price].sum() * step
    assert 0 < truth <= bound < 1


def test_the_command_composes_the_account_of_the_file(tmp_path):
    rows = "\n".join(f"u{user},i{item},{1 + item % 5}" for user in range(9) for item in range(6))
    file = tmp_path / "mine.csv"
    file.write_text(f"user,item,rating\n{rows}\n")
    address = f"{file}?bounds=1,5"
    account = account_of(address)
    account.enter(planned_run(3.0, DELTA))
    finding = with_account(small_finding(public=False), address)
    mu = math.hypot(mu_at(3.0, DELTA), mu_at(2.0, DELTA))
    exact = brentq(lambda epsilon: gaussian_delta(mu, epsilon) - DELTA, 0.0, 50.0)
    assert finding.summary.startswith(f"ε = {epsilon_text(exact)} in total")
    account.forget()
