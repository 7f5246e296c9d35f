"""What every estimator does: it makes a run of its parameters and data, and keeps the model."""

import contextlib
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags

from dpmf_core import algorithms
from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples
from dpmf_core.privacy import Budget, normal_form
from dpmf_core.privacy.accounts import Account, account_of
from dpmf_core.runs import execution
from dpmf_core.runs.specification import RunSpec, with_delta
from dpmf_core.runs.trained_model import Training, model_of

AlgorithmParameters = dict[str, Any] | None  # of an algorithm, by their names
RandomState = int | np.random.RandomState | np.random.Generator | None


class Releasing(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator that makes a run at every fit, and a release on private data.

    Subclasses have the parameters. A parameter of `Budget` that they lack cannot be chosen.
    """

    algorithm: str
    parameters: AlgorithmParameters
    random_state: RandomState
    public: bool
    ledger: str | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The estimator's parameters by name; with `deep`, also the algorithm's."""
        own: dict[str, Any] = super().get_params(deep)
        if deep and isinstance(self.parameters, dict):
            return {**own, **self.parameters}
        return own

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator or, by their names, of its algorithm.

        Raises
        ------
        ValueError
            On an unknown name, as in scikit-learn.
        """
        own_names = self._get_param_names()
        super().set_params(
            **{name: value for name, value in params.items() if name in own_names}
        )
        if others := {
            name: value for name, value in params.items() if name not in own_names
        }:
            self._require_names(others)
            self.parameters = joined(self.parameters, others)
        return self

    def _require_names(self, names: Iterable[str]) -> None:
        with contextlib.suppress(BadInput, TypeError):  # `fit` raises these
            fields = algorithms.find(self.algorithm).model_fields
            if unknown := [name for name in names if name not in fields]:
                raise ValueError(
                    f"Invalid parameter {unknown[0]!r} for {type(self).__name__} with the algorithm"
                    f" {self.algorithm!r}. Valid parameters are:"
                    f" {sorted([*self._get_param_names(), *fields])}."
                )

    def _spec(
        self, data: Ratings | Samples, seed: int = 0, **parameters: Any
    ) -> RunSpec:
        """The run of a fit. Raises BadInput."""
        budget = {
            name: getattr(self, name)
            for name in Budget.model_fields
            if hasattr(self, name)
        }
        choices = with_delta(budget, [self.algorithm], data.shape.n_units)
        parameters |= self.parameters or {}
        return RunSpec.of(
            **choices,
            dataset=data.name,
            algorithm=self.algorithm,
            parameters=parameters,
            split=None,
            seed=seed,
        )

    def _train(
        self,
        data: Ratings | Samples,
        training: Training | None = None,
        **parameters: Any,
    ) -> None:
        """Charge the account of the data, draw, train, and set the fitted attributes.

        random_state seeds starting values, and on public data the noise; other noise has a secret
        key. Raises BadInput if a budget does not allow the charge; then nothing is drawn.
        """
        spec = self._spec(data, _seed(self.random_state), **parameters)
        run = execution.run(spec, input_data=data, ledger=self.ledger)
        self.run_ = model_of(run, training)
        self.model_ = run.model
        self.ledger_ = normal_form(run.record.event)
        self.guarantee_ = self.run_.guarantee
        self.account_: Account | None = account_of(data, self.ledger, in_hand=True)
        self.noise_is_reproducible_ = run.record.noise_is_reproducible
        self.noise_ = run.record.noise
        self.delta_ = run.record.delta
        self.epsilon_ = self.run_.epsilon

    def __getattr__(self, name: str) -> Any:
        """Say why a fitted estimator has no account any more."""
        if name == "account_" and "run_" in self.__dict__:
            raise AttributeError(
                "account_ is gone: its key is a hash of the private rows, so forget_people() drops"
                " it and no pickle holds it. dpmf.account(data, bounds=...) opens it again."
            )
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}"
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # noise on private data has a secret key
        tags.non_deterministic = hasattr(self, "epsilon") and not self.public
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Everything except the account, which is on this machine, and raw figures."""
        state = {
            name: value
            for name, value in super().__getstate__().items()
            if name != "account_"
        }
        if "run_" in state:
            state["run_"] = state["run_"].without_raw_figures()
        return state


def joined(
    parameters: AlgorithmParameters, flat: Mapping[str, Any]
) -> AlgorithmParameters:
    """Join an algorithm's parameters from a mapping with those given one by one.

    A value that is not a mapping is returned unchanged, and `fit` refuses it.
    """
    if not flat or not isinstance(parameters, dict | None):
        return parameters
    return {**(parameters or {}), **flat}


def fitted_before() -> tuple[str, ...]:
    """Assumptions for what was learned from the same rows before, without noise.

    These are the steps before the estimator in each `Pipeline` that is being fitted. scikit-learn
    does not tell a step what precedes it, so this inspects the calling frames.
    """
    names = dict.fromkeys(
        name for line, at in _pipelines() for name in _learning(line, at)
    )
    return tuple(
        f"what {name} learned from the rows before this step is public; it has no noise and is not"
        " in the ledger"
        for name in names
    )


def _pipelines() -> Iterator[tuple[Pipeline, int]]:
    """Pipelines that are being fitted, innermost first, and the place of the current step."""
    frame = sys._getframe(2)
    known = set[int]()
    while frame is not None:
        line = None
        if frame.f_code.co_name.startswith(("fit", "_fit")):
            line = frame.f_locals.get("self")
        if isinstance(line, Pipeline) and id(line) not in known:
            known.add(id(line))
            yield line, frame.f_locals.get("step_idx", len(line.steps) - 1)
        frame = frame.f_back  # type: ignore[assignment]


def _learning(line: Pipeline, at: int) -> list[str]:
    steps = [step for _, step in line.steps[:at] if step not in (None, "passthrough")]
    return [type(step).__name__ for step in steps if get_tags(step).requires_fit]


def _seed(random_state: RandomState) -> int:
    """The seed of a run."""
    if random_state is None:
        return secrets.randbits(62)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))
