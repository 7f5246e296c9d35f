"""What every estimator does with its algorithm: plan, charge the account, draw, train."""

import contextlib
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from dpmf_core import algorithms
from dpmf_core.algorithms import Streams
from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples
from dpmf_core.kernels import single_threaded_blas
from dpmf_core.privacy import Budget, Guarantee, normal_form
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.accounts import Account, account_of, charging
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs.planning import PreparedRun, prepared_for
from dpmf_core.runs.specification import RunSpec, with_delta

RandomState = int | np.random.RandomState | np.random.Generator | None


class Releasing(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator whose every fit is a release.

    Subclasses have the parameters; those of `Budget` that they lack are not theirs to choose.
    """

    algorithm: str
    parameters: dict[str, Any] | None
    random_state: RandomState
    public: bool
    ledger: str | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The estimator's parameters by name; where `deep`, also those of its algorithm."""
        own = super().get_params(deep)
        return {**own, **self.parameters} if deep and isinstance(self.parameters, dict) else own

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator or, by their names, of its algorithm.

        Raises
        ------
        ValueError
            On a name that neither has, as scikit-learn does.
        """
        own_names = self._get_param_names()
        super().set_params(**{name: it for name, it in params.items() if name in own_names})
        if others := {name: it for name, it in params.items() if name not in own_names}:
            self._require_names(others)
            self.parameters = joined(self.parameters, others)
        return self

    def _require_names(self, names: Iterable[str]) -> None:
        with contextlib.suppress(BadInput, TypeError):  # which `fit` raises
            fields = algorithms.find(self.algorithm).model_fields
            if unknown := [name for name in names if name not in fields]:
                raise ValueError(
                    f"Invalid parameter {unknown[0]!r} for {type(self).__name__} with the algorithm"
                    f" {self.algorithm!r}. Valid parameters are:"
                    f" {sorted([*self._get_param_names(), *fields])}."
                )

    def _plan(
        self, data: Ratings | Samples, **parameters: Any
    ) -> tuple[PreparedRun, Budget | None]:
        """What a fit will release and may claim, from the public shape of the data, and its budget.
        Raises BadInput.
        """
        names = [name for name in Budget.model_fields if hasattr(self, name)]
        choices = with_delta(
            {name: getattr(self, name) for name in names}, [self.algorithm], data.shape.n_units
        )
        parameters |= self.parameters or {}
        spec = RunSpec.of(
            **choices, dataset=data.name, algorithm=self.algorithm, parameters=parameters
        )
        return prepared_for(spec, data), spec.budget

    def _charge(self, ready: PreparedRun, budget: Budget | None) -> Charge:
        """What a fit enters in the account of private data."""
        title = f"{type(self).__name__}, {ready.algorithm.title}"
        return Charge.of(title, ready.plan, ready.guarantee, budget)

    def _train(self, data: Ratings | Samples, ready: PreparedRun, budget: Budget | None) -> None:
        """Charge the account of the data, draw, train; set what a fit sets.

        random_state seeds starting values, and on public data the noise; on others that has a
        secret key. Raises BadInput where a budget does not allow the charge: then nothing is drawn.
        """
        noise_seed, start = _seeds(self.random_state)
        rng = Streams(np.random.default_rng(start), int(start.generate_state(1)[0]))
        charge = self._charge(ready, budget)
        # the same result whatever the number of threads
        with charging(data, charge, self.ledger, in_hand=True) as permit, single_threaded_blas:
            noise = permit.noise(ready.plan, noise_seed if data.public else None)
            self.model_ = algorithms.train(ready.algorithm, data, noise, rng)
        assert noise.ledger == normal_form(ready.plan)
        self.ledger_ = noise.ledger
        self.guarantee_: Guarantee = ready.guarantee
        self.account_: Account | None = account_of(data, self.ledger, in_hand=True)
        self.noise_is_reproducible_, self.noise_ = noise.is_reproducible, noise.words
        self.delta_ = None if budget is None else budget.delta
        self.epsilon_ = None
        if budget is not None and ready.guarantee.has_epsilon:
            self.epsilon_ = exactly(ready.plan, budget.delta, budget.relation)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the account, which lies on this machine."""
        return {name: it for name, it in super().__getstate__().items() if name != "account_"}


def joined(parameters: dict[str, Any] | None, flat: dict[str, Any]) -> dict[str, Any] | None:
    """Parameters of an algorithm that were given as a mapping and one by one.

    What is no mapping stays as it is: `fit` refuses it.
    """
    if not flat or not isinstance(parameters, dict | None):
        return parameters
    return {**(parameters or {}), **flat}


def _seeds(
    random_state: RandomState,
) -> tuple[np.random.SeedSequence | None, np.random.SeedSequence]:
    """The noise's seed, None for a secret key, and that of starting values."""
    if random_state is None:
        return None, np.random.SeedSequence()
    if isinstance(random_state, np.random.Generator):
        seed = int(random_state.integers(2**31 - 1))
    else:
        seed = int(check_random_state(random_state).randint(2**31 - 1))
    noise, start = np.random.SeedSequence(seed).spawn(2)
    return noise, start
