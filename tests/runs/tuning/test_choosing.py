"""Which private method, at which epsilon: question, answer, report and notebook."""

import ast
import html
import json
import math
import shlex
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import Gaussian, Relation, Status, sequence
from dpmf_core.privacy.accounting import group_epsilon
from dpmf_core.privacy.budget import AccountBudget
from dpmf_core.privacy.decision import planned_run
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.privacy.odometer import Charge
from dpmf_core.privacy.selection import (
    exception_of_best,
    price_of_best,
    price_of_choosing,
)
from dpmf_core.runs import conclusions
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.noisy_errors import score_event
from dpmf_core.runs.planning import account_of, prepare
from dpmf_core.runs.references import floors, proven_methods
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.tuning.choosing import wording
from dpmf_core.runs.tuning.choosing.answer import Answer, find
from dpmf_core.runs.tuning.choosing.asking import export, with_account
from dpmf_core.runs.tuning.choosing.finding_documents import notebook, report
from dpmf_core.runs.tuning.choosing.private_finding import (
    CHOSEN_ON_WORLDS,
    PrivateFinding,
    among_the_best,
    selection,
    world_runs,
)
from dpmf_core.runs.tuning.choosing.public_finding import PublicFinding
from dpmf_core.runs.tuning.choosing.question import (
    FEW,
    MANY,
    MORE,
    Question,
    QuestionRuns,
)
from dpmf_core.runs.tuning.choosing.unpaid_range import DeclaredShape
from dpmf_core.runs.tuning.private_selection import SelectionResult
from tests.support.gaussian import epsilon_of, mu_of
from tests.support.tables import table
from tests.support.worlds import range_by_hand

SHAPE = Shape(600, 30, (1.0, 5.0))
STAND_IN = "cinema?users=600&items=30&density=0.5&bounds=1,5"
DELTA = 1e-5


def question(**parts):
    fields = {
        "data": {"id": STAND_IN},
        "delta": DELTA,
        "draws": 2,
    } | parts
    if not {"spend", "keep", "reach"} & set(parts):
        fields["spend"] = 2.0
    return Question.parse(**fields)


def test_candidates_are_proven_for_a_person_and_runs_are_distinct():
    assert list(QuestionRuns(question(), SHAPE).methods) == proven_methods("ratings")
    runs = QuestionRuns(question(every=True), SHAPE)
    in_order = proven_methods("ratings", every=True)
    assert list(runs.methods) == [name for name in in_order if name in runs.methods]
    assert {"spectral", "dpals", "private-bias"} <= set(runs.methods)
    assert not {"sketch", "input-perturbation", "dpnmf-laplace"} & set(runs.methods)
    assert "conditional" in runs.refusals["Input perturbation"]
    assert "trusted curator" in runs.refusals["Local biases"]
    for point in runs.points:
        is_private = prepare(point.spec, SHAPE).guarantee.has_epsilon
        assert is_private == (point.epsilon is not None or point.label == "User mean")
    assert len(runs.specs) == len(runs.points)


def test_a_group_has_the_epsilon_that_was_asked_for():
    group_question = question(
        protect="group",
        group=4,
        spend=3.0,
    )
    runs = QuestionRuns(group_question, SHAPE)
    dear = [point for point in runs.points if point.epsilon == 3.0]
    assert {point.spec.algorithm for point in dear} == set(runs.methods)
    for point in dear:
        plan = prepare(point.spec, SHAPE).plan
        assert group_epsilon(plan, DELTA, Relation.ADD_REMOVE, 4) == pytest.approx(
            3.0, rel=1e-6
        )
        assert point.spec.budget.epsilon < 3.0 / 4
    assert question().of_one(3.0) == 3.0


REFERENCES = {
    ("global-mean", None): (1.05, 1.05),
    ("user-mean", None): (1.0, 1.0),
    ("bmf", None): (0.8, 0.8),
    ("spectral without noise", None): (0.85, 0.85),
    ("dpals without noise", None): (0.85, 0.85),
}
FIGURES = {
    ("spectral", 0.5): (0.99, 1.01),
    ("dpals", 0.5): (0.95, 0.95),
    ("spectral", 1.0): (0.92, 0.92),
    ("dpals", 1.0): (0.94, 0.94),
    ("spectral", 2.0): (0.86, 0.88),
    ("dpals", 2.0): (0.94, 0.96),
}


def answer_of(one_question, figures=FIGURES):
    metric = one_question.metric
    return Answer(one_question, table({**REFERENCES, **figures}, metric).by(metric))


def at(answer, method, epsilon):
    here = answer.judgement.at(epsilon)
    return next(one for one in here if one.algorithm == method)


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
    best = answer_of(question(**wishes)).best
    assert best.algorithm == method
    assert best.epsilon == epsilon


@pytest.mark.parametrize("wishes", [{"keep": 0.9}, {"reach": 0.8}])
def test_where_nothing_is_good_enough_nothing_is_named(wishes):
    answer = answer_of(question(**wishes))
    assert answer.best is None
    assert wording.headline(answer) == "No method reaches this up to ε = 2"
    assert (
        "Spectral comes closest, at ε = 2 with RMSE 0.870"
        in wording.sentences(answer)[0]
    )


def test_what_an_own_mean_does_as_well_is_not_recommended():
    """It beats the mean of all ratings, which is no floor."""
    figures = {("spectral", 2.0): (0.9, 1.02)}
    answer = answer_of(question(), figures)
    assert answer.best is None
    title = "Up to ε = 2 no method clearly beats each person's own mean"
    assert wording.headline(answer) == title


def test_where_sharing_is_worth_nothing_there_is_no_share_to_keep():
    figures = {
        ("bmf", None): (0.995, 0.996),
        ("spectral", 2.0): (0.997, 0.997),
    }
    answer = answer_of(question(keep=0.5), figures)
    title = "Sharing is worth nothing measurable here, so there is no share to keep"
    assert answer.best is None
    assert wording.headline(answer) == title
    report(replace(small_finding(), answer=answer))


def test_the_evidence_has_the_scale_an_interval_costs_the_next_best_and_less_epsilon():
    answer = answer_of(question())
    judgement = answer.judgement
    best = answer.best
    cost = conclusions.cost_words(judgement, judgement.cost(best))
    assert wording.headline(answer) == f"Use Spectral at ε = 2: it {KEEPS}"
    assert wording.sentences(answer) == [
        conclusions.scale_words(judgement),
        "Over 2 draws of split and noise, Spectral has RMSE 0.870 and keeps 1% to 129% (95%"
        " interval of the mean).",
        cost,
        "Next best at the same ε: DPALS, which keeps 25%; it is worse beyond chance (95%, 2"
        " draws).",
        "At ε = 1 Spectral keeps 40%; no difference was found in 2 draws.",
    ]


KEEPS = "keeps 65% of what sharing ratings is worth"


def test_every_candidate_also_runs_without_noise_next_to_the_ends_of_the_scale():
    runs = QuestionRuns(question(), SHAPE)
    without_noise = set()
    others = set()
    for point in runs.points:
        if point.spec.without_noise:
            without_noise.add(point.spec.algorithm)
        elif point.epsilon is None:
            others.add(point.spec.algorithm)
    assert without_noise == set(runs.methods)
    assert others == {"bmf", "global-mean", "user-mean"}
    assert others == {"bmf", *floors("rmse")}


def test_lists_are_compared_with_the_better_of_two_methods_without_privacy():
    runs = QuestionRuns(question(goal="lists", reach=0.1), Shape(600, 60, (1.0, 5.0)))
    assert runs.references == ["bmf", "ease"]
    figures = {
        ("global-mean", None): (0.1, 0.1),
        ("ease", None): (0.2, 0.2),
        ("bmf", None): (0.3, 0.3),
    }
    judgement = table(figures, "recall_at_20").by("recall_at_20")
    assert judgement.best_known.algorithm == "bmf"


def test_lists_are_ranked_by_the_share_that_is_printed():
    """Sorted by the medians of Recall@20, the second would be recommended."""
    figures = {
        ("global-mean", None): (0.10, 0.10, 0.10),
        ("ease", None): (0.30, 0.30, 0.35),
        ("spectral", 2.0): (0.24, 0.40, 0.25),
        ("dpals", 2.0): (0.245, 0.245, 0.30),
    }
    one_question = question(goal="lists", spend=2.0)
    answer = Answer(one_question, table(figures, "recall_at_20").by("recall_at_20"))
    assert answer.best.algorithm == "dpals"
    assert answer.next_best.algorithm == "spectral"
    assert answer.best.median < answer.next_best.median
    kept = [row[2] for row in answer.rows]
    assert kept == ["72%", "70%"]


@pytest.mark.parametrize(
    "parts",
    [
        {"spend": 2.0, "keep": 0.8}, {"spend": -1.0}, {"keep": 1.5}, {"protect": "group"},
        {"group": 3}, {"draws": 1}, {"goal": "stars"}, {"protect": "rating"},
        {"data": {"id": "worlds?users=600&items=30&each=15&bounds=1,5"}, "keep": 0.5},
    ],
)  # fmt: skip
def test_a_bad_question_is_refused(parts):
    with pytest.raises(BadInput):
        question(**parts)


def small_finding(answer=None, **more):
    if answer is None:
        answer = answer_of(question())
    return PublicFinding(
        question=answer.question,
        runs=QuestionRuns(answer.question, SHAPE),
        answer=answer,
        title="Cinema, small",
        path="cinema-small",
        **more,
    )


DECLARED = DeclaredShape(600, 30, 15.0, (1.0, 5.0), 1.0)


def error_in_world(number, algorithm, epsilon):
    """The floor is 1.0; sharing is worth .05 to .27, and the method brings more by the world."""
    if algorithm == "bmf":
        return 0.95 - 0.02 * number
    return 1.01 - 0.01 * number * min(epsilon, 2.0) / 2.0


def private_finding(asks=None, title="mine.csv", path="mine.csv?bounds=1,5", **more):
    asked = {
        "data": {"id": DECLARED.id},
        "delta": DELTA,
        "spend": 2.0,
    }
    one_question = Question.parse(**(asked | (asks or {})))
    return PrivateFinding(
        question=one_question,
        expected=range_by_hand(world_runs(one_question), error_in_world),
        title=title,
        path=path,
        **more,
    )


def test_the_notebook_finds_the_answer_again_and_trains_it():
    finding = small_finding(parameters={"rank": 3})
    cells = json.loads(notebook(finding))["cells"]
    programs = [
        "".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"
    ]
    again = calls_of(programs[1])["choose"]
    assert again == {"goal": "ratings", **finding.again_keywords}
    for program in programs[1:]:
        assert "subprocess.run" not in program
    training = calls_of(programs[-1])["fit"]
    assert training == {
        "epsilon": 2.0,
        "delta": DELTA,
        "split": None,
        "rank": 3,
    }


def calls_of(code):
    """The keyword arguments of each call of a method in a program, by the method's name."""
    calls = {}
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Call) or not node.keywords:
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr != "is_file":
            calls[node.func.attr] = {
                word.arg: ast.literal_eval(word.value) for word in node.keywords
            }
    return calls


SMALLER = "cinema?users=120&items=20&density=0.4&bounds=1,5"
METHODS = ("private-bias", "spectral", "private-svd")
LARGER_DELTA = 1e-4


def selection_of(**parts):
    question = Question.parse(
        data={"id": SMALLER}, delta=LARGER_DELTA, spend=2.0, **parts
    )
    return selection(question, DataSpec(id=SMALLER), METHODS, 2.0, 5.0)


def test_after_a_private_selection_everything_is_of_the_method_that_it_chose():
    result = SelectionResult(
        selection_of(), 0.9, {"method": "dpals"}, 3.29, False, "", interval=(0.85, 0.95)
    )
    before = private_finding()
    finding = before.with_selection(result)
    assert before.run.algorithm == "spectral"
    assert finding.run.algorithm == "dpals"
    assert "use DPALS at ε = 2: a private selection" in finding.headline
    assert "DPALS" in finding.name
    assert "DPALS" in finding.summary
    # the range is about another method
    assert "falls" not in finding.headline + finding.summary
    assert (
        finding.sentences[0]
        == "The following is about Spectral, from before the selection."
    )
    assert CHOSEN_ON_WORLDS in report(before)
    assert CHOSEN_ON_WORLDS not in report(finding) + notebook(finding)
    assert "3.29" in finding.cost
    assert finding.cost in html.unescape(report(finding))
    none = before.with_selection(
        replace(
            result,
            score=None,
            winner={},
            interval=None,
        )
    )
    assert none.algorithm == "spectral"
    assert none.sentence == before.sentence
    same = before.with_selection(replace(result, winner={"method": "spectral"}))
    assert same.sentences == before.sentences


def test_its_price_is_that_of_training_and_score_for_one_and_for_a_group():
    mu = gaussian_mu(2.0, LARGER_DELTA)
    one = selection_of()
    trial = sequence(Gaussian(1 / mu, "training"), score_event(one.score_noise))
    assert (
        one.epsilon
        == price_of_choosing(trial, 5.0, LARGER_DELTA).best_of["geometric"]
        > 2
    )
    of_three = selection_of(protect="group", group=3)
    score = sequence(Gaussian(one.score_noise / 3, "score"))
    trial = sequence(Gaussian(1 / mu, "training"), score)
    assert of_three.group_price(3) == pytest.approx(
        price_of_choosing(trial, 5.0, LARGER_DELTA).best_of["geometric"], rel=1e-6
    )
    assert of_three.epsilon < one.epsilon


def test_a_method_without_a_proof_for_a_person_is_not_chosen_among():
    question = Question.parse(
        data={"id": SMALLER},
        delta=LARGER_DELTA,
        spend=2.0,
    )
    with pytest.raises(BadInput):
        selection(
            question,
            DataSpec(id=SMALLER),
            ("private-bias", "input-perturbation"),
            2.0,
            5.0,
        )


# ---- differences that are none -------------------------------------------------------------------

CLOSE = FIGURES | {
    ("spectral", 2.0): (0.86, 0.87),
    ("dpals", 2.0): (0.865, 0.868),
}
NO_DIFFERENCE = "No difference found between Spectral and DPALS at ε = 2"


def test_methods_that_are_not_told_apart_are_both_in_the_title():
    finding = small_finding(answer=answer_of(question(), CLOSE))
    kept = "keeps 68% of what sharing ratings is worth"
    title = f"{NO_DIFFERENCE}: Spectral, the first by its median, {kept}"
    assert finding.headline == title
    assert finding.name == f"{NO_DIFFERENCE} on Cinema, small"
    assert f"{NO_DIFFERENCE}." in finding.summary
    assert "no difference was found in 2 draws" in " ".join(
        wording.sentences(finding.answer)
    )
    assert finding.run.algorithm == "spectral"
    record = export(finding)
    assert record["is_undecided"]
    assert record["no_difference"] == ["dpals"]
    assert NO_DIFFERENCE in report(finding)
    assert NO_DIFFERENCE in notebook(finding)


# ---- private data: a range over worlds -----------------------------------------------------------


def test_the_range_is_said_in_stars_and_the_share_after_it():
    finding = private_finding()
    assert finding.headline == (
        "With Spectral at ε = 2, the error of a person falls by up to 0.10 stars or rises by up to"
        " 0.01 on data of this shape"
    )
    assert finding.sentences == [
        "On data of this shape the error of a person falls by up to 0.10 stars or rises by up to"
        " 0.01 compared with what needs no sharing; sharing may be worth 0.05 to 0.27 stars;"
        " nothing public tells which.",
        "Of what sharing is worth, it keeps between 0% and 37%.",
        "These are the least and the most over 12 simulated worlds of the declared shape (600"
        " people; 30 items; about 15 ratings a person), which differ in taste, noise and skew. They"
        " are no confidence interval, and real data may lie outside.",
        "Spectral is recommended because it loses least: on twelve data sets at most 10 points of"
        " what sharing is worth, compared with the best of three proven methods.",
        "The choice of ε is yours: the table has what each may bring.",
    ]
    assert finding.rows[0] == ("0.5", "-0.01", "0.02", "0%", "6%")


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.011, 0.12, "the error of a person falls by between 0.01 and 0.12 stars"),
        (-0.004, 0.12, "the error of a person falls by between 0.00 and 0.12 stars"),
        (0.03, 0.03, "the error of a person falls by 0.03 stars"),
        (
            -0.02,
            0.12,
            "the error of a person falls by up to 0.12 stars or rises by up to 0.02",
        ),
        (
            -0.02,
            0.001,
            "the error of a person does not fall, and rises by up to 0.02 stars",
        ),
        (
            -0.02,
            -0.01,
            "the error of a person does not fall, and rises by up to 0.02 stars",
        ),
    ],
)
def test_a_range_is_a_fall_a_rise_or_both(low, high, words):
    def error(number, algorithm, epsilon):
        return 0.8 if algorithm == "bmf" else 1 - low - (high - low) * number / 11

    finding = private_finding()
    expected = range_by_hand(finding.expected.runs, error)
    said = replace(finding, expected=expected).headline
    assert said == f"With Spectral at ε = 2, {words} on data of this shape"


def test_a_scale_that_is_not_of_stars_is_not_called_so():
    declared = replace(
        DECLARED,
        bounds=(-10.0, 10.0),
        step=None,
    )
    said = " ".join(private_finding(asks={"data": {"id": declared.id}}).sentences)
    assert "stars" not in said
    assert "0.27 on the scale of the ratings" in said


def test_no_document_about_private_data_promises_a_share_or_a_confidence():
    finding = private_finding()
    record = export(finding)
    assert record["measured_on"] == "simulated worlds of the declared shape"
    for document in (report(finding), notebook(finding), json.dumps(record)):
        text = html.unescape(document)
        assert "95%" not in text
        assert "falls by up to 0.10 stars" in text
        assert "nothing public tells which" in text
    assert record["range"]["worth"] == pytest.approx((0.05, 0.27))
    at_two = next(one for one in record["range"]["at"] if one["epsilon"] == 2.0)
    assert at_two["gain"] == pytest.approx((-0.01, 0.10))
    assert record["algorithm"] == "spectral"
    assert "best" not in record


def test_the_command_that_computes_a_range_again_needs_no_data():
    again = private_finding().again_arguments
    assert again[:3] == ["choose", "--dataset", DECLARED.id]
    assert "--spend" in again


def test_a_group_s_worlds_have_the_epsilon_of_one_person():
    runs = world_runs(private_finding(asks={"protect": "group", "group": 4}).question)
    private = [point for point in runs.points if point.epsilon == 2.0]
    assert {point.spec.budget.epsilon for point in private} == {
        question(protect="group", group=4).of_one(2.0)
    }


def test_a_selection_on_private_data_is_among_the_methods_that_are_best_somewhere():
    spec = among_the_best(private_finding().question, DataSpec(id=SMALLER))
    assert [kind.id for kind in spec.kinds] == ["spectral", "private-bias", "dpals"]
    assert {search.budget.epsilon for search in spec.searches} == {2.0}
    lists = DeclaredShape(600, 60, 15.0, (1.0, 5.0))
    other = question(goal="lists", data={"id": lists.id})
    assert among_the_best(other, DataSpec(id=SMALLER)) is None


def test_page_notebook_and_json_have_the_numbers_of_the_answer():
    finding = small_finding()
    best = finding.answer.best
    record = export(finding)
    assert record["best"]["share_kept"] == finding.answer.judgement.share(best)
    assert record["best"]["draws"] == best.draws
    assert record["best"]["rmse"] == best.median
    assert record["floor"]["method"] == "user-mean"
    for document in (
        report(finding),
        notebook(finding),
        json.dumps(record["sentences"]),
    ):
        assert "keeps 1% to 129%" in document
    assert KEEPS in finding.headline
    assert KEEPS in finding.summary


# ---- more draws ----------------------------------------------------------------------------------


class World:
    """Figures of runs by hand: the better of the first two methods depends on `gap`."""

    def __init__(self, gap=0.0, spread=0.0):
        self.gap = gap
        self.spread = spread
        self.tables = []

    def read(self, points):
        self.tables.append(points)
        return Draws.of(points, [self.summary(point) for point in points])

    def summary(self, point):
        figure = self.figure(point.spec, point.epsilon)
        proven = {
            "guarantee": "PROVEN",
            "unit": "user",
            "epsilon": point.epsilon,
            "public": True,
        }
        return {**proven, "metrics": {"rmse": figure}}

    def figure(self, spec, epsilon):
        if epsilon is None:
            return {
                "global-mean": 1.1,
                "user-mean": 1.0,
                "bmf": 0.8,
            }.get(spec.algorithm, 0.82)
        noise = self.spread * (-1) ** spec.seed
        by_method = {"spectral": 0.84 + noise, "dpals": 0.84 + self.gap - noise}
        return by_method.get(spec.algorithm, 0.95) + 0.02 / epsilon

    @property
    def further(self):
        """Who got more draws, where and how often, in the last table."""
        seeds = {}
        for point in self.tables[-1]:
            if point.epsilon is not None:
                place = (point.spec.algorithm, point.epsilon)
                seeds.setdefault(place, []).append(point.spec.seed)
        return {place: sorted(own) for place, own in seeds.items() if len(own) > FEW}


def runs_of_first_draws(**parts):
    return QuestionRuns(question(draws=FEW, **parts), SHAPE)


def test_a_decided_question_gets_no_more_draws():
    runs = runs_of_first_draws()
    world = World(gap=0.02)
    points, answer = find(runs, world.read)
    assert points == runs.points
    assert len(world.tables) == 1
    assert answer.best.algorithm == "spectral"
    assert not answer.is_undecided


def test_close_methods_get_more_draws_at_the_epsilon_of_the_answer_alone():
    world = World(spread=0.001)
    points, answer = find(runs_of_first_draws(), world.read)
    every = list(range(MANY))
    assert world.further == {
        ("spectral", 2.0): every,
        ("dpals", 2.0): every,
    }
    assert len(world.tables) == 1 + len(MORE)
    assert answer.is_undecided
    assert len(answer.best.draws) == MANY
    names = ("global-mean", "user-mean", "bmf")
    for name in names:
        assert [point.spec.algorithm for point in points].count(name) == MANY
    costs = [answer.judgement.cost(one) for one in (answer.best, *answer.rivals)]
    assert None not in costs


def test_more_draws_end_as_soon_as_the_difference_is_found():
    world = World(gap=0.0035, spread=0.001)
    _, answer = find(runs_of_first_draws(), world.read)
    assert len(answer.best.draws) == MORE[0]
    assert not answer.is_undecided
    assert wording.headline(answer).startswith("Use Spectral at ε = 2")


def test_an_interval_that_is_too_wide_gets_more_draws_of_the_best_alone():
    world = World(gap=0.12, spread=0.015)
    _, answer = find(runs_of_first_draws(), world.read)
    assert list(world.further) == [("spectral", 2.0)]
    low, high = answer.interval(answer.best)
    assert high - low > 0.1 and len(answer.best.draws) == MANY  # the limit


def test_the_same_question_gets_the_same_draws():
    points, answer = find(runs_of_first_draws(), World(spread=0.001).read)
    points_again, answer_again = find(runs_of_first_draws(), World(spread=0.001).read)
    assert points == points_again
    assert answer.rows == answer_again.rows
    assert answer.best == answer_again.best
    assert answer.rivals == answer_again.rivals


def test_before_all_runs_have_finished_there_is_no_answer():
    world = World(spread=0.001)

    def read(points):
        every = world.read(points)
        return replace(every, missing=tuple(points[FEW * 200 :]) or tuple(points[-1:]))

    runs = runs_of_first_draws()
    assert find(runs, read) == (runs.points, None)

    def read_first(points):
        extra = tuple(points[len(runs.points) :])
        return replace(world.read(points), missing=extra)

    points, answer = find(runs, read_first)
    assert answer is None
    assert len(points) > len(runs.points)


# ---- the total of a decision ---------------------------------------------------------------------


def test_after_a_selection_the_summary_composes_selection_and_training():
    spec = selection_of()
    result = SelectionResult(spec, 0.9, {"method": "dpals"}, spec.epsilon, False, "")
    finding = private_finding().with_selection(result)
    together = spec.epsilon + 2.0
    assert finding.summary.startswith(
        f"ε = {epsilon_text(together)} in total (δ = 1.1e-4,"
    )
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
    finding = private_finding(earlier=earlier)
    mu = math.hypot(mu_of(1.0, DELTA), mu_of(3.0, DELTA), mu_of(2.0, DELTA))
    exact = epsilon_of([1 / mu], DELTA)
    decision = finding.decision
    assert decision.total.epsilon == pytest.approx(exact, rel=1e-6)
    exception = norm.cdf(mu / 2 - exact / mu)
    assert decision.certainty.exception == pytest.approx(exception, rel=1e-4)
    uncovered = Charge("ALS")
    also = private_finding(earlier=(*earlier, uncovered))
    assert "Not counted: 1 run without a guarantee" in also.summary
    assert "Not counted: 1 run without a guarantee" in also.training


def test_without_anything_before_the_total_is_that_of_training():
    summary = small_finding().summary
    assert summary.startswith(
        "ε = 2.00 in total (δ = 1e-5, per user, add/remove, exact): "
    )
    assert "at most 88.1% sure that a given person took part" in summary
    mu = mu_of(2.0, DELTA)
    cases = math.ceil(1e5 * norm.cdf(mu / 2 - 2.0 / mu))
    assert f"In up to {cases} of 100,000 cases" in summary


def test_what_is_trained_already_is_not_planned_again():
    """The account holds the training: a release of 1 and one of 2 compose, and no third."""
    trained = replace(planned_run(2.0, DELTA), holds_out=False)
    earlier = (planned_run(1.0, DELTA), trained)
    finding = private_finding(earlier=earlier, is_trained_on_all=True)
    mu = math.hypot(mu_of(1.0, DELTA), mu_of(2.0, DELTA))
    exact = epsilon_of([1 / mu], DELTA)
    assert finding.decision.total.epsilon == pytest.approx(exact, rel=1e-6)
    assert "planned" not in finding.summary + finding.training
    before = private_finding(earlier=earlier)
    assert before.decision.total.epsilon > exact
    assert "planned 2.00" in before.summary
    # without an account, as of public data, or without the entry in it, the training counts
    for charges in ((), (planned_run(1.0, DELTA),)):
        counted = private_finding(earlier=charges, is_trained_on_all=True).decision
        assert counted == private_finding(earlier=charges).decision
    assert small_finding(is_trained_on_all=True).summary == small_finding().summary


def test_the_command_trains_on_all_ratings_and_names_no_program_of_this_machine():
    finding = private_finding(parameters={"rank": 3}, title="mine.csv")
    command = shlex.split(finding.train)
    assert command[:2] == ["dpmf", "fit"]
    assert dict(zip(command[2::2], command[3::2], strict=True)) == {
        "--dataset": "mine.csv?bounds=1,5",
        "--algorithm": "spectral",
        "--epsilon": "2",
        "--delta": str(DELTA),
        "--split": "none",
        "--param": "rank=3",
        "--save": "model",
    }
    assert finding.train in html.unescape(report(finding))
    # a declared shape has no data to train on
    assert private_finding(path="").train == ""
    assert "recommended parameters rather than" in finding.summary


def test_a_budget_s_total_stands_at_its_delta():
    budget = AccountBudget(epsilon=9.0, delta=1e-6)
    decision = private_finding(budget=budget).decision
    mu = mu_of(2.0, DELTA)
    exact = epsilon_of([1 / mu], 1e-6)
    assert decision.total.epsilon == pytest.approx(exact, rel=1e-6)
    assert decision.certainty.delta == 1e-6


def test_for_a_group_everything_counts_for_the_group():
    spec = selection_of(protect="group", group=3)
    result = SelectionResult(spec, 0.9, {"method": "dpals"}, spec.epsilon, False, "")
    finding = private_finding(asks={"protect": "group", "group": 3})
    earlier = replace(finding, earlier=(planned_run(1.0, DELTA),)).decision
    mu = math.hypot(3 * mu_of(1.0, DELTA), mu_of(2.0, DELTA))
    exact = epsilon_of([1 / mu], DELTA)
    assert earlier.total.epsilon == pytest.approx(exact, rel=1e-6)
    selected = finding.with_selection(result)
    assert selected.decision.total.epsilon == pytest.approx(
        spec.group_price(3) + 2.0, rel=1e-6
    )
    assert "per group of up to 3 people" in selected.summary
    another = replace(selected, earlier=(replace(spec_charge(spec), title="another"),))
    assert another.decision is None
    assert another.summary.startswith("No total is known")


def spec_charge(spec):
    return Charge(
        spec.title,
        (),
        Status.PROVEN,
        delta=LARGER_DELTA,
        price=spec.prices,
    )


def test_the_exception_of_a_selection_bounds_simulated_selections():
    """Trials of one Gaussian figure each; the best is the largest, as with a score that it is."""
    delta = 1e-2
    mean = 3.0
    mu = 0.8
    event = Gaussian(1 / mu)
    price = price_of_best(event, "geometric", mean, delta)
    bound = exception_of_best(event, "geometric", mean, price)
    x = np.linspace(-10.0, 12.0, 400_001)
    step = x[1] - x[0]

    def density_of_best(shift):
        """f'(F(y)) q(y), f the generating function of a geometric number."""
        below = norm.cdf(x - shift)
        return norm.pdf(x - shift) * mean / (mean - (mean - 1) * below) ** 2

    with_you = density_of_best(mu)
    without = density_of_best(0.0)
    assert with_you.sum() * step == pytest.approx(1.0, rel=1e-3)
    loss = np.log(with_you / without)
    truth = with_you[loss > price].sum() * step
    assert 0 < truth <= bound < 1


def test_the_command_composes_the_account_of_the_file(tmp_path):
    rows = "\n".join(
        f"u{user},i{item},{1 + item % 5}" for user in range(9) for item in range(6)
    )
    file = tmp_path / "mine.csv"
    file.write_text(f"user,item,rating\n{rows}\n")
    address = f"{file}?bounds=1,5"
    account = account_of(address)
    account.enter(planned_run(3.0, DELTA))
    finding = with_account(private_finding(), account_of(address))
    mu = math.hypot(mu_of(3.0, DELTA), mu_of(2.0, DELTA))
    exact = epsilon_of([1 / mu], DELTA)
    assert finding.summary.startswith(f"ε = {epsilon_text(exact)} in total")
    account.forget()
