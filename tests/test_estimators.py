"""PrivateNMF among scikit-learn's own."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import NMF
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpmf import PlainNMF, PrivateNMF
from dpmf_core.base.errors import BadInput
from tests.support.made_up_samples import blocks

QUIET = 500.0


@parametrize_with_checks(
    [
        PrivateNMF(
            n_components=2, epsilon=50.0, random_state=0, public=True, points=50
        ),
        PlainNMF(n_components=2, random_state=0, public=True),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", ["oneshot-nmf", "dp-nmf"])
def test_without_noise_it_explains_as_well_as_scikit_learn(method):
    data = blocks(n_samples=4000)
    X = np.asarray(data.X, np.float64)
    if method == "dp-nmf":
        parameters = {"steps": 60}
    else:
        parameters = {}
    ours = PrivateNMF(
        3, epsilon=QUIET, algorithm=method, random_state=0, public=True, **parameters
    )
    H = ours.fit_transform(X)
    theirs = NMF(3, init="nndsvda", max_iter=500).fit(X)
    residuals = X - ours.inverse_transform(H)
    error = (residuals**2).sum()
    allowed = 3 * theirs.reconstruction_err_**2
    assert error < allowed + 0.01 * (X**2).sum()
    assert ours.components_.shape == (3, 20)


def test_the_ledger_costs_the_requested_epsilon():
    """Whether or not so few rows pay for a second moment."""
    for second_moment in (False, True):
        model = PrivateNMF(
            3,
            epsilon=2.0,
            delta=1e-6,
            second_moment=second_moment,
            random_state=1,
            public=True,
        ).fit(blocks().X)
        assert model.epsilon_ == pytest.approx(2.0, rel=1e-6)
        n_releases = sum(count for _, count in model.ledger_)
        assert n_releases == 1 + second_moment
        assert model.guarantee_.status == "PROVEN"


def test_a_person_with_several_rows_may_be_the_unit():
    X = np.asarray(blocks().X)
    people = np.arange(60) % 7
    alone = PrivateNMF(3, random_state=1).fit(X)
    together = PrivateNMF(3, random_state=1).fit(X, people=people)
    assert alone.guarantee_.unit == "sample"
    assert together.guarantee_.unit == "person"
    # 1 / (10 n)
    assert alone.delta_ == 1e-3
    assert together.delta_ == 1e-2
    shape = together.fit_transform(X, people=people).shape
    assert shape == (60, 3)
    with pytest.raises(BadInput, match="person"):
        PrivateNMF(3).fit(X, people=people[:5])


@pytest.mark.parametrize("method", ["oneshot-nmf", "dp-nmf"])
@pytest.mark.parametrize("public", [True, False])
def test_a_seed_repeats_the_noise_only_on_public_rows(method, public):
    """On others random_state seeds starting values."""
    X = blocks().X
    first = PrivateNMF(3, algorithm=method, random_state=0, public=public).fit(X)
    second = PrivateNMF(3, algorithm=method, random_state=0, public=public).fit(X)
    assert np.array_equal(first.components_, second.components_) is public
    assert first.noise_is_reproducible_ is public


@pytest.mark.parametrize("method", ["oneshot-nmf", "dp-nmf"])
def test_noise_may_be_discrete(method):
    """Its own rule is a little dearer than the continuous one, and within the budget."""
    facts = {
        "algorithm": method,
        "epsilon": 2.0,
        "delta": 1e-6,
        "random_state": 0,
        "public": True,
    }
    model = PrivateNMF(3, noise="discrete", **facts).fit(blocks().X)
    mechanisms = {leaf.mechanism for leaf, _ in model.ledger_}
    assert mechanisms == {"discrete Gaussian"}
    assert 1.5 < model.epsilon_ <= 2.0
    assert np.isfinite(model.components_).all()
    continuous = PrivateNMF(3, **facts).fit(blocks().X)
    ((leaf, _), *_) = model.ledger_
    ((continuous_leaf, _), *_) = continuous.ledger_
    assert leaf.noise_multiplier > continuous_leaf.noise_multiplier


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"algorithm": "als-nmf"}, "als-nmf"),
        ({"noise": "none"}, "noise"),
    ],
)
def test_bad_parameters_are_refused(bad, message):
    with pytest.raises((BadInput, ValueError), match=message):
        PrivateNMF(**bad).fit(blocks().X)


def test_the_score_is_the_share_of_squares_that_the_parts_explain():
    X = np.asarray(blocks().X, np.float64)
    model = PrivateNMF(3, epsilon=QUIET, random_state=0, public=True).fit(X)
    residuals = X - model.inverse_transform(model.transform(X))
    expected = 1 - (residuals**2).sum() / (X**2).sum()
    assert 0.5 < expected < 1
    assert model.score(X) == pytest.approx(expected, rel=1e-6)
    assert model.score(csr_array(X)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("place", ["last", "middle", "search"])
def test_a_guarantee_names_earlier_steps_without_noise(place):
    X = np.asarray(blocks().X)
    y = np.arange(60) % 2
    steps = [Normalizer(), MinMaxScaler(clip=True), PrivateNMF(2, delta=1e-3)]
    if place == "middle":
        line = make_pipeline(*steps, LogisticRegression()).fit(X, y)
    elif place == "last":
        line = make_pipeline(*steps).fit(X)
    else:
        grid = {"privatenmf__epsilon": [1.0]}
        line = GridSearchCV(make_pipeline(*steps), grid, cv=2)
        line = line.fit(X).best_estimator_
    guarantee = line.named_steps["privatenmf"].guarantee_
    named = [
        assumption
        for assumption in guarantee.assumptions
        if "MinMaxScaler" in assumption
    ]
    assert len(named) == 1
    assert guarantee.status == "CONDITIONAL"
    # it learns nothing
    assert not any("Normalizer" in assumption for assumption in guarantee.assumptions)
    alone = PrivateNMF(2, delta=1e-3).fit(X).guarantee_
    assert not any("MinMaxScaler" in assumption for assumption in alone.assumptions)


@pytest.mark.parametrize("algorithm", ["nmf", "robust-nmf"])
def test_the_non_private_version_is_exact_and_enters_the_account(algorithm):
    """Scikit-learn's own factorisation explains as much."""
    X = np.asarray(blocks(n_samples=300).X, np.float64)
    ours = PlainNMF(3, algorithm=algorithm, random_state=0).fit(X)
    theirs = NMF(3, init="nndsvda", max_iter=500).fit(X)
    residuals = X - ours.inverse_transform(ours.transform(X))
    allowed = 1.1 * theirs.reconstruction_err_**2
    assert (residuals**2).sum() < allowed + 0.01 * (X**2).sum()
    assert ours.epsilon_ is None
    assert ours.account_ is not None
    assert ours.account_.total.n_uncovered >= 1
    again = PlainNMF(3, algorithm=algorithm, random_state=0).fit(X)
    assert np.array_equal(ours.components_, again.components_)
