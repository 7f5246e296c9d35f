"""PrivateNMF among scikit-learn's own."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import NMF
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpmf_core import PrivateNMF
from dpmf_core.errors import BadInput
from dpmf_core.privacy import normal_form
from dpmf_core.privacy.accounting import epsilon
from tests.sample_worlds import blocks

QUIET = 500.0


@parametrize_with_checks([PrivateNMF(n_components=2, epsilon=50.0, random_state=0, parameters={"points": 50})])
def test_scikit_learns_own_checks(estimator, check):  # type: ignore[no-untyped-def]
    check(estimator)


@pytest.mark.parametrize("method", ["oneshot-nmf", "dp-nmf"])
def test_without_noise_it_explains_as_well_as_scikit_learn(method: str) -> None:
    data = blocks(n_samples=4000)
    X = np.asarray(data.X, np.float64)
    parameters = {"steps": 60} if method == "dp-nmf" else None
    ours = PrivateNMF(3, epsilon=QUIET, method=method, random_state=0, parameters=parameters)  # type: ignore[arg-type]
    H = ours.fit_transform(X)
    theirs = NMF(3, init="nndsvda", max_iter=500).fit(X)
    error = ((X - ours.inverse_transform(H)) ** 2).sum()
    assert error < 3 * theirs.reconstruction_err_**2 + 0.01 * (X**2).sum()
    assert ours.components_.shape == (3, 20)


def test_its_ledger_costs_the_epsilon_asked_for() -> None:
    found = PrivateNMF(3, epsilon=2.0, delta=1e-6, random_state=1).fit(blocks().X)
    event_cost = found.epsilon_
    assert event_cost == pytest.approx(2.0, rel=1e-6)
    assert sum(count for _, count in found.ledger_) == 2
    assert found.guarantee_.status == "PROVEN"
    assert normal_form is not None and epsilon is not None


def test_sparse_and_dense_give_the_same_parts() -> None:
    X = np.asarray(blocks().X)
    one, other = (PrivateNMF(3, epsilon=5.0, random_state=2).fit(form) for form in (X, csr_array(X)))
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-4)


def test_the_operating_systems_noise_differs_every_time() -> None:
    X = blocks().X
    assert not np.allclose(PrivateNMF(3).fit(X).components_, PrivateNMF(3).fit(X).components_)


def test_it_stands_in_a_pipeline_and_names_what_it_makes() -> None:
    X = blocks().X
    line = make_pipeline(MinMaxScaler(), PrivateNMF(3, random_state=0)).fit(X)
    assert line.transform(X).shape == (60, 3)
    assert list(line.get_feature_names_out()) == ["privatenmf0", "privatenmf1", "privatenmf2"]


@pytest.mark.parametrize(("bad", "said"), [({"n_components": 0}, "n_components"), ({"epsilon": -1.0}, "epsilon"), ({"method": "als-nmf"}, "als-nmf")])
def test_bad_parameters_are_refused(bad: dict[str, object], said: str) -> None:
    with pytest.raises((BadInput, ValueError), match=said):
        PrivateNMF(**bad).fit(blocks().X)  # type: ignore[arg-type]
