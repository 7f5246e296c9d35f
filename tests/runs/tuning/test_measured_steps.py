"""Measured trainings on private data: what they cost, and that they replace the prediction."""

import html
import json
import math
from dataclasses import replace

import pytest

import dpmf
from dpmf_core.privacy import Relation
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs.fall_record import FallPrice, FallRecord
from dpmf_core.runs.measured_fall import MeasuredTraining
from dpmf_core.runs.paired_errors import NoisyError
from dpmf_core.runs.planning import charges_of
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.tuning.choosing import asking, measured_trainings
from dpmf_core.runs.tuning.choosing.asking import export
from dpmf_core.runs.tuning.choosing.finding_documents import notebook, report
from dpmf_core.runs.tuning.choosing.measured_trainings import (
    AnswerStep,
    epsilon_of,
    missing_charges,
)
from dpmf_core.runs.tuning.choosing.private_finding import PrivateFinding, world_runs
from dpmf_core.runs.tuning.choosing.question import Question
from dpmf_core.runs.tuning.choosing.unpaid_range import DeclaredShape
from tests.support.clinic import write_clinic
from tests.support.gaussian import epsilon_of as epsilon_of_releases
from tests.support.gaussian import mu_of
from tests.support.worlds import range_by_hand

DELTA = 1e-5
DECLARED = DeclaredShape(400, 12, 9.0, (1.0, 5.0), 1.0)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """A private table of 400 users, in a folder of its own."""
    return write_clinic(tmp_path_factory.mktemp("clinic"))


def finding_at(epsilon, steps=()):
    """A finding whose worlds have falls from -.01 to .10 at epsilon 2, .05 at most at .5."""

    def error(number, algorithm, one_epsilon):
        if algorithm == "bmf":
            return 0.95 - 0.02 * number
        return 1.01 - 0.01 * number * min(one_epsilon, 2.0) / 2.0

    question = Question.parse(
        data={"id": DECLARED.id},
        delta=DELTA,
        spend=epsilon,
    )
    return PrivateFinding(
        question=question,
        expected=range_by_hand(world_runs(question), error),
        title="clinic.csv",
        path="clinic.csv?bounds=1,5",
        steps=steps,
    )


def measured(finding, clinic):
    """The finding with its answer trained on the clinic and measured at .1."""
    run = finding.work(DataSpec(id=clinic), 0.1).measure()
    return replace(finding, steps=(*finding.steps, AnswerStep.of(run, finding.epsilon)))


@pytest.fixture
def own_account(tmp_path, monkeypatch):
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "data"))


def together(*epsilons):
    """Epsilon of Gaussian releases with these epsilons, each at delta."""
    multipliers = [1 / mu_of(epsilon, DELTA) for epsilon in epsilons]
    return epsilon_of_releases(multipliers, DELTA)


def test_three_steps_cost_what_their_gaussian_releases_cost_together(
    own_account, clinic
):
    finding = finding_at(0.5)
    for epsilon in (0.5, 1.0, 2.0):
        finding = measured(finding_at(epsilon, finding.steps), clinic)
    by_hand = together(0.5, 1.0, 2.0, 0.1, 0.1, 0.1)
    assert epsilon_of(finding.steps) == pytest.approx(by_hand, rel=1e-5)
    assert finding.decision.total.epsilon == pytest.approx(by_hand, rel=1e-5)
    account = dpmf.account(clinic)
    assert account.total.epsilon == pytest.approx(by_hand, rel=1e-5)
    again = finding._composed([finding.planned_training]).total.epsilon
    with_training = together(0.5, 1.0, 2.0, 0.1, 0.1, 0.1, 2.0)
    assert again == pytest.approx(with_training, rel=1e-5)


def test_a_measured_training_costs_what_was_announced(own_account, clinic):
    work = finding_at(1.0).work(DataSpec(id=clinic), 0.1)
    prices = charges_of([work, work])
    assert len(prices) == 2  # once, however often it is asked for
    run = work.measure()
    step = AnswerStep.of(run, 1.0)
    for charge, planned in zip(step.charges, prices, strict=True):
        assert charge.ledger == planned.ledger
        assert charge.title == planned.title
    price = run.record.fall.price
    assert price.together == pytest.approx(together(1.0, 0.1), rel=1e-5)


def test_an_account_that_holds_a_step_is_not_charged_twice_and_one_that_lost_it_is():
    charges = (
        Charge("training", (("noise", 1),)),
        Charge("measurement", (("noise", 2),)),
    )
    step = AnswerStep(None, 1.0, None, charges)
    assert missing_charges(charges, [step]) == []
    assert missing_charges(charges[:1], [step]) == [charges[1]]
    assert missing_charges(charges, [step, step]) == list(charges)


# ---- what replaces the prediction ----------------------------------------------------------------


def fall(value, low, high):
    price = FallPrice(
        epsilon=0.1,
        delta=DELTA,
        relation=Relation.ADD_REMOVE,
        together=2.1,
        ledger=(),
    )
    return FallRecord(
        value=value, low=low, high=high, floor="own mean", constant=3.0, error=0.9,
        error_low=0.8, error_high=1.0, own_clip=1.0, constant_clip=1.0, price=price,
    )  # fmt: skip


def with_fall(value, low, high):
    """A finding at epsilon 2, whose worlds give -.01 to .10, with a measured fall."""
    finding = finding_at(2.0)
    spec = finding.work(DataSpec(id="clinic"), 0.1).spec
    step = AnswerStep(spec, 2.0, fall(value, low, high), ())
    return replace(finding, steps=(step,))


def documents_of(finding):
    texts = (
        report(finding),
        notebook(finding),
        json.dumps(export(finding), ensure_ascii=False),
    )
    return [html.unescape(text) for text in texts]


def test_a_measurement_replaces_the_prediction_everywhere():
    finding = with_fall(0.031, 0.025, 0.037)
    falls = "the error of a person falls by 0.031 stars (0.025 to 0.037)"
    assert finding.sentence.lower() == f"with spectral at ε = 2, {falls}"
    for text in documents_of(finding):
        assert falls in text
        assert "nothing public tells which" not in text
        assert "keeps" not in text
    line_of_chart = ">measured</text>"
    assert report(finding).count(line_of_chart) == 1
    assert line_of_chart not in report(finding_at(2.0))

    record = export(finding)
    assert record["measured_on"] == measured_trainings.MEASURED
    assert record["measured"][0]["fall"]["value"] == 0.031
    assert record["contradiction"] is None
    sentences = " ".join(finding.sentences)
    assert "simulated worlds of the declared shape gave -0.01 to 0.10" in sentences
    assert finding.columns[0] == "ε of the training"
    (row,) = [row for row in finding.rows if row[1]]
    assert row[:4] == ("2", "0.031", "0.025 to 0.037", "-0.01 to 0.10")


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ((-0.05, -0.09, -0.011), "less than in any"),
        ((0.15, 0.101, 0.2), "more than in any"),
    ],
)
def test_what_contradicts_the_prediction_is_said_first(interval, words):
    finding = with_fall(*interval)
    assert words in finding.sentences[0]
    assert "-0.01 to 0.10" in finding.sentences[0]
    assert finding.summary.split(": ", 1)[1].startswith("The measurement contradicts")
    for text in documents_of(finding):
        assert words in text


@pytest.mark.parametrize(
    "interval", [(0.05, 0.0, 0.2), (-0.05, -0.2, 0.0), (0.0, -2.0, 2.0)]
)
def test_what_may_be_as_predicted_contradicts_nothing(interval):
    finding = with_fall(*interval)
    assert not finding.contradiction
    assert "contradicts" not in " ".join(finding.sentences)


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ((0.02, -0.01, 0.05), "no fall of the error was found: it may fall by up to 0.050 stars or"
         " rise by up to 0.010"),
        ((-0.03, -0.05, -0.01), "rises by 0.030 stars (0.010 to 0.050)"),
        ((0.0, -2.0, 2.0), "the change of the error is unknown: the noise hides it"),
    ],
)  # fmt: skip
def test_a_fall_that_may_be_none_is_not_called_one(interval, words):
    assert words in with_fall(*interval).headline


def test_from_own_means_alone_only_less_than_predicted_contradicts():
    """A constant may be better than own means; then the fall from the better is smaller."""
    expected = finding_at(2.0).expected
    above = NoisyError(0.2, 0.15, 0.25)
    below = NoisyError(-0.2, -0.25, -0.15)

    def contradiction(error, own_mean_only):
        return measured_trainings.contradiction(
            expected,
            2.0,
            error,
            own_mean_only=own_mean_only,
        )

    assert not contradiction(above, own_mean_only=True)
    assert contradiction(below, own_mean_only=True)
    assert contradiction(above, own_mean_only=False)


def test_what_a_doubling_brought_is_told_with_the_noise_of_both():
    """Ends .01 and .03 from one value, .04 and .01 from the other: roots of sums of squares."""
    spec = finding_at(2.0).work(DataSpec(id="clinic"), 0.1).spec
    before = AnswerStep(spec, 1.0, fall(0.02, 0.01, 0.05), ())
    last = AnswerStep(spec, 2.0, fall(0.12, 0.08, 0.13), ())
    low = 0.10 - math.hypot(0.04, 0.03)
    high = 0.10 + math.hypot(0.01, 0.01)
    words = measured_trainings.gained_words([before, last], " stars")
    assert f"by 0.100 stars more ({low:.3f} to {high:.3f}, 95%)" in words
    same = AnswerStep(spec, 2.0, fall(0.03, 0.0, 0.06), ())
    words = measured_trainings.gained_words([before, same], " stars")
    assert "no difference was found" in words
    assert not measured_trainings.gained_words([before], " stars")


def test_a_step_with_other_parameters_is_no_measurement_of_the_answer():
    finding = with_fall(0.031, 0.025, 0.037)
    other = replace(finding, parameters={"rank": 3})
    assert other.step is None
    assert other.fall is None
    assert other.sentence == replace(other, steps=()).sentence


def test_lists_have_no_measured_error():
    finding = with_fall(0.031, 0.025, 0.037)
    of_lists = Question.parse(
        data={"id": DECLARED.id},
        delta=DELTA,
        spend=2.0,
        goal="lists",
    )
    other = replace(finding, question=of_lists)
    assert other.step is None
    assert other.fall is None
    assert not other.contradiction
    with pytest.raises(dpmf.BadInput, match="about lists"):
        other.work(DataSpec(id="clinic"), 0.1)


def test_epsilon_is_not_doubled_above_the_largest():
    with pytest.raises(dpmf.BadInput, match="largest epsilon is 100"):
        asking.with_spend(finding_at(60.0), 120.0, compute=None)


def test_work_that_cannot_be_measured_is_refused_before_it_begins(own_account, clinic):
    work = finding_at(1.0).work(DataSpec(id=clinic), 0.1)
    without_split = work.spec.split.model_copy(update={"kind": "none"})
    spec = work.spec.model_copy(update={"split": without_split})
    with pytest.raises(dpmf.BadInput, match="held-out"):
        MeasuredTraining.parse(spec=spec, epsilon=0.1).check()
    assert not dpmf.account(clinic).entries
