"""What a model brought its people: the release, its price, and every place that shows it."""

import html
import json
import math

import numpy as np
import pandas as pd
import pytest

import dpmf
from dpmf_core.algorithms import Recommender
from dpmf_core.base.errors import BadInput
from dpmf_core.cli import output
from dpmf_core.curator import OpenCurator, in_memory
from dpmf_core.data.splits import SplitSpec, split
from dpmf_core.privacy import NOTHING, Budget, Noise, NoiseKind, Relation
from dpmf_core.privacy.accounting import epsilon as exact_epsilon
from dpmf_core.privacy.odometer import total
from dpmf_core.runs import measured_fall
from dpmf_core.runs.data_access import open_anywhere
from dpmf_core.runs.fall_record import TITLE
from dpmf_core.runs.measured_fall import charges, exact_fall, noisy_fall
from dpmf_core.runs.notebook_views import html_of_run
from dpmf_core.runs.paired_errors import PairedErrors, PairedSums
from dpmf_core.runs.reports import notebook_of_run, report, script
from dpmf_core.testing import rating_worlds
from dpmf_core.testing.probes import Blindfold, Recorder
from tests.support.algebra import predict
from tests.support.dense import rated

DELTA = 1e-5
TITLE_OF_CHARGE = "fall of the error, Private biases"
BUDGET = Budget(epsilon=2.0, delta=DELTA)


def fit(data, epsilon=2.0, delta=DELTA, measure=0.5, **more):
    return dpmf.fit(
        data,
        "private-bias",
        epsilon=epsilon,
        delta=delta,
        measure=measure,
        **more,
    )


# ---- the release ---------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("noise", [NoiseKind.CONTINUOUS, NoiseKind.DISCRETE])
def test_a_measurement_costs_what_was_asked(relation, noise):
    budget = BUDGET.model_copy(update={"relation": relation, "noise": noise})
    cost = exact_epsilon(measured_fall.event(budget, 0.3), DELTA, relation)
    assert cost <= 0.3
    assert cost == pytest.approx(0.3, rel=1e-6)


def people(ratings):
    parts = split(ratings, SplitSpec(test_fraction=0.4), 0)
    return in_memory(
        {
            "train": parts.history,
            "history": parts.history,
            "test": parts.test,
        }
    )


def test_a_blindfolded_measurement_shows_nothing_of_the_data():
    """With all sums at zero, data that differ in everything show the same, bit for bit."""
    plan = measured_fall.event(BUDGET, 0.3)
    shown = []
    for world in (
        rating_worlds.world(0),
        rating_worlds.world(1, skew=2.0),
        rating_worlds.of({}),
    ):
        model = Recommender.of_means(world.shape)
        noise = Blindfold(plan, np.random.SeedSequence(3))
        shown.append(noisy_fall(people(world), model, noise))
    assert shown[0] == shown[1] == shown[2]


def test_a_measurement_releases_its_plan_and_nothing_else():
    plan = measured_fall.event(BUDGET, 0.3)
    world = rating_worlds.world()
    noise = Recorder(plan, np.random.SeedSequence(0))
    noisy_fall(people(world), Recommender.of_means(world.shape), noise)
    assert [(entry.leaf.statistic, entry.size) for entry in noise.log] == [
        ("mean of user means", 2),
        ("errors of the held-out ratings", 4),
    ]


def shoppers(n_users=1500, n_items=40):
    """Few ratings a person, so that one constant is the better floor."""
    rng = np.random.default_rng(0)
    given = rng.random((n_users, n_items)) < 0.07
    quality = rng.normal(0, 0.5, n_items)
    values = 3.4 + quality + rng.normal(0, 0.9, (n_users, n_items))
    return rated(given, np.clip(values, 1, 5), (1, 5)), quality


def viewers(n_users=1200, n_items=50):
    """Many ratings a person and offsets of people, so that own means are the better floor."""
    rng = np.random.default_rng(1)
    given = rng.random((n_users, n_items)) < 0.6
    quality = rng.normal(0, 0.4, n_items)
    mood = rng.normal(0, 0.5, (n_users, 1))
    values = 3.2 + quality + mood + rng.normal(0, 0.8, (n_users, n_items))
    return rated(given, np.clip(values, 1, 5), (1, 5)), quality


def clipped_fall(world, model, plan):
    """The figure itself: the clipped sums without noise, and the best constant."""
    everybody = people(world)
    multiplier = Noise(plan).next_release(PairedErrors.name).noise_multiplier
    statistic = PairedErrors.of(world.n_users, multiplier, measured_fall.RADIUS)
    constant = exact_fall(everybody, model).constant
    sums = OpenCurator(everybody, Noise(NOTHING), {}).total(statistic, model, constant)
    return PairedSums(statistic, tuple(sums), 1e-9, 2.0, has_constant=True)


@pytest.mark.parametrize(
    ("make", "floor", "centre", "user_damping"),
    [(shoppers, "constant", 3.4, None), (viewers, "own mean", 3.0, 0.0)],
)
def test_the_interval_holds_the_figure_in_93_of_100_draws(
    make, floor, centre, user_damping
):
    world, quality = make()
    model = Recommender.of_means(
        world.shape,
        centre=centre,
        item_offsets=quality.astype(np.float32),
        user_damping=user_damping,
    )
    plan = measured_fall.event(BUDGET, 0.3)
    exact = clipped_fall(world, model, plan)
    truth = exact.fall.value
    assert exact.floor == floor
    assert truth > 0.02

    everybody = people(world)
    values = []
    widths = []
    n_true = 0
    n_with_floor = 0
    for seed in range(200):
        noise = Noise(plan, np.random.SeedSequence(seed))
        shown = noisy_fall(everybody, model, noise)
        values.append(shown.value)
        widths.append(shown.high - shown.low)
        n_true += shown.low <= truth <= shown.high
        n_with_floor += shown.floor == floor
    assert n_true >= 186
    assert np.median(values) == pytest.approx(truth, abs=0.01)
    assert n_with_floor > 150
    assert max(widths) < 0.3


def test_the_exact_figure_is_that_of_its_definition():
    world, quality = viewers(n_users=60)
    model = Recommender.of_means(world.shape, item_offsets=quality.astype(np.float32))
    means = Recommender.of_means(world.shape)
    parts = split(world, SplitSpec(test_fraction=0.4), 0)
    held_out = parts.test

    def rmse(model):
        predictions = predict(model, parts.history, held_out.users, held_out.items)
        squares = pd.Series((held_out.values - predictions) ** 2.0)
        of_users = squares.groupby(held_out.users).mean()
        return math.sqrt(of_users.clip(upper=4.0).mean())

    shown = exact_fall(people(world), model)
    assert shown.error == pytest.approx(rmse(model), rel=1e-5)
    assert shown.value == pytest.approx(rmse(means) - rmse(model), rel=1e-5)
    assert shown.low == shown.value
    assert shown.high == shown.value
    assert shown.is_exact


@pytest.mark.parametrize("make, floor", [(shoppers, "constant"), (viewers, "own mean")])
def test_on_public_data_the_fall_is_the_difference_of_two_metrics(make, floor):
    """In the record of the run, so that ranges over simulated worlds are of the same figure."""
    world, _ = make(n_users=200)
    run = dpmf.fit(
        world,
        "bias",
        measure=0.1,
        keep=False,
    )
    fall = run.record.fall
    metrics = run.record.metrics
    assert fall.is_exact
    assert fall.floor == floor
    assert fall.error == pytest.approx(metrics["person_rmse"], rel=1e-6)
    difference = metrics["trivial_person_rmse"] - metrics["person_rmse"]
    assert fall.value == pytest.approx(difference, abs=1e-6)


# ---- the account ---------------------------------------------------------------------------------


def test_run_and_measurement_enter_the_account_apart_and_compose(clinic):
    model = fit(clinic, measure=0.1)
    spent = dpmf.account(clinic)
    run, measurement = spent.lines
    assert run.title == "Private biases"
    assert run.together == pytest.approx(2.0, rel=1e-6)
    assert measurement.title == TITLE_OF_CHARGE
    assert measurement.together == pytest.approx(0.1, rel=1e-6)
    assert spent.n_raw_errors == 1  # the measurement shows none

    together = model.record.fall.price.together
    assert together == pytest.approx(spent.total.epsilon, rel=1e-9)
    assert together == pytest.approx(2.005, abs=0.001)
    spec = model.record.spec
    planned = charges(spec, open_anywhere(spec.data), 0.1)
    assert total(planned).epsilon == pytest.approx(together)


def test_a_stored_measurement_is_shown_again_at_no_price_and_enters_another_account(
    clinic, tmp_path
):
    first = fit(clinic)
    again = fit(clinic)
    assert again.record.fall == first.record.fall
    assert len(dpmf.account(clinic).entries) == 2
    ledger = tmp_path / "mine.ledger"
    fit(clinic, ledger=ledger)
    assert [line.times for line in dpmf.account(clinic, ledger=ledger).lines] == [1, 1]
    another = fit(clinic, measure=0.4)
    assert another.record.fall != first.record.fall
    assert len(dpmf.account(clinic).entries) == 3


def test_what_a_budget_does_not_allow_together_is_refused_before_anything_is_drawn(
    clinic,
):
    dpmf.account(clinic).set_budget(2.0, DELTA)
    with pytest.raises(BadInput, match="nothing was drawn"):
        fit(clinic)
    assert not dpmf.account(clinic).entries
    dpmf.account(clinic).set_budget(2.2, DELTA)
    assert fit(clinic, measure=0.1).record.fall.price.epsilon == 0.1
    with pytest.raises(BadInput, match="nothing was drawn"):
        fit(clinic, measure=2.0)
    assert len(dpmf.account(clinic).entries) == 2


def test_data_in_memory_are_measured_and_charged(monkeypatch, tmp_path):
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    world, _ = shoppers(n_users=300)
    columns = {
        "user": world.users,
        "item": world.items,
        "rating": world.values,
    }
    frame = pd.DataFrame(columns)
    ledger = tmp_path / "frame.ledger"
    model = fit(frame, bounds=(1, 5), ledger=ledger)
    assert model.record.fall.price is not None
    *_, last = dpmf.account(
        frame,
        bounds=(1, 5),
        ledger=ledger,
    ).lines
    assert last.title == TITLE_OF_CHARGE


@pytest.mark.parametrize(
    "options", [{"noise": "discrete"}, {"relation": "replace-one"}]
)
def test_a_measurement_follows_the_noise_and_the_relation_of_its_run(clinic, options):
    fall = fit(clinic, **options).record.fall
    assert fall.price.relation == options.get("relation", "add-remove")
    is_discrete = "noise" in options
    for row in fall.price.ledger:
        assert ("discrete" in row.mechanism) == is_discrete
    assert dpmf.account(clinic).lines[-1].together == pytest.approx(0.5, rel=1e-5)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, 1e9])
def test_an_epsilon_that_no_measurement_may_have_is_refused_before_the_run(
    clinic, epsilon
):
    with pytest.raises(BadInput, match="must be from"):
        fit(clinic, measure=epsilon)
    assert not dpmf.account(clinic).entries


def test_what_cannot_be_measured_is_refused_before_the_run(clinic):
    with pytest.raises(BadInput, match="held-out"):
        fit(clinic, split=None)
    with pytest.raises(BadInput, match="no proven epsilon"):
        dpmf.fit(clinic, "bias", measure=0.1)
    with pytest.raises(BadInput, match="for a person"):
        dpmf.fit(
            clinic,
            "input-perturbation",
            epsilon=1.0,
            delta=0.0,
            measure=0.1,
        )
    with pytest.raises(BadInput, match="pure"):
        fit(clinic, delta=0.0)
    with pytest.raises(BadInput, match="samples"):
        dpmf.fit(
            "digits",
            "oneshot-nmf",
            epsilon=1.0,
            measure=0.1,
        )
    assert not dpmf.account(clinic).entries


# ---- where it is shown ---------------------------------------------------------------------------


def test_a_measurement_is_shown_wherever_its_run_is_without_the_receipt(
    clinic, tmp_path
):
    model = fit(clinic)
    fall = model.record.fall
    headline = fall.headline
    assert headline.startswith(TITLE)
    exported = json.dumps(model.record.export())
    assert fall.receipt.entry not in exported
    assert model.record.export()["fall"]["value"] == fall.value
    folder = model.save(tmp_path / "model")
    card = (folder / "MODEL_CARD.md").read_text()
    statement = (folder / "privacy.yaml").read_text()
    assert headline in card
    assert "without the measurement above" in card
    assert "Run and measurement together" in " ".join(statement.split())
    for text in (report([model]), html_of_run(model), card):
        assert headline in html.unescape(text)
        assert fall.price.words in html.unescape(text)
    assert TITLE in output.run(model.record)
    for text in (notebook_of_run(model.record), script(model.record)):
        assert "measure=0.5," in text
    assert dpmf.load_model(folder).record.fall == fall.exported()


def test_on_public_data_the_figure_is_exact_and_says_so():
    model = dpmf.fit(
        "cinema-small",
        "private-bias",
        epsilon=2.0,
        measure=0.1,
        keep=False,
    )
    fall = model.record.fall
    assert fall.price is None
    assert fall.low == fall.value == fall.high > 0.03
    assert "exact" in fall.meaning
    assert "cost" not in " ".join(fall.sentences)
    plain = dpmf.fit(
        "cinema-small",
        "bias",
        measure=0.1,
        keep=False,
    )
    assert plain.record.fall.value > fall.value - 0.05


def test_a_fall_that_noise_hides_is_called_unknown(clinic):
    fall = fit(clinic, measure=0.005).record.fall
    assert fall.is_unknown
    assert "unknown" in fall.headline
