"""Non-negative factorisation as scikit-learn has it: `PrivateNMF(n_components=8,
epsilon=1).fit_transform(X)`, then `components_`.
"""

import warnings
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from dpmf_core import algorithms
from dpmf_core.algorithms import Streams
from dpmf_core.algorithms.parts import Parts
from dpmf_core.data.samples import Samples
from dpmf_core.kernels import single_threaded_blas
from dpmf_core.privacy import Budget, Guarantee, NoiseKind, calibrate, default_delta, normal_form
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.accounts import charging
from dpmf_core.privacy.odometer import Charge

Array = npt.NDArray[Any]


class PrivateNMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Parts of samples, one row of X a privacy unit, of total privacy loss (epsilon, delta) for
    adding or removing a row (by `fit(X, people=ids)`: a person).

    n_components: how many parts; at most as many as features are found. method: "oneshot-nmf" or
    "dp-nmf". epsilon, delta: total; delta 1/(10 n) if None.
    image_shape: (height, width) where rows are images. parameters: further parameters of the
    method, by name. random_state: of starting values.
    public: whether the rows are published or simulated. Only then random_state seeds the noise too,
    and a fit can be repeated; the noise on other rows comes from a secret key of the operating
    system, as whoever can draw it again can take it off.
    noise: continuous, or discrete: sums are rounded to a grid, and an exact discrete Gaussian is
    drawn on it.
    ledger: the file of the account that a fit on other than public rows enters; None: the account
    of these rows in the data folder.

    components_ (n_components, n_features), ledger_, guarantee_, epsilon_, delta_,
    noise_is_reproducible_, noise_ (in words), n_features_in_.
    `transform` is each row's own affair: its result is private.
    Raises ValueError on negative or non-finite numbers and on parameters out of range.
    """

    def __init__(
        self,
        n_components: int = 8,
        *,
        epsilon: float = 1.0,
        delta: float | None = None,
        method: Literal["oneshot-nmf", "dp-nmf"] = "oneshot-nmf",
        image_shape: tuple[int, int] | None = None,
        parameters: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        public: bool = False,
        noise: Literal["continuous", "discrete"] = "continuous",
        ledger: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.method = method
        self.image_shape = image_shape
        self.parameters = parameters
        self.random_state = random_state
        self.public = public
        self.noise = noise
        self.ledger = ledger

    def fit(self, X: Any, y: Any = None, people: Any = None) -> Self:
        """Find the parts of X (n_samples, n_features). people (n_samples,): whose each row is,
        whole numbers from 0; a person with all her rows is the unit.
        """
        samples = self._samples(X, reset=True)
        samples = samples if people is None else samples.of_people(people)
        self.delta_ = default_delta(samples.shape.n_units) if self.delta is None else self.delta
        if self.noise not in tuple(NoiseKind):
            raise ValueError(f"noise must be 'continuous' or 'discrete'. Got {self.noise!r}.")
        budget = Budget(epsilon=self.epsilon, delta=self.delta_, noise=NoiseKind(self.noise))
        shape = samples.shape
        K = min(self.n_components, shape.n_features)
        if self.n_components > K:
            warnings.warn(
                f"n_components={self.n_components} is more than the {K} features: {K} parts are"
                " found.",
                UserWarning,
                stacklevel=2,
            )
        algorithm = algorithms.build(
            self.method, {"n_components": K, **(self.parameters or {})}, shape, budget
        )
        planned = algorithms.planned(algorithm, shape, budget.noise)
        plan = planned(calibrate(planned, budget))
        secret, start = self._streams()
        guarantee = algorithm.guarantee().of(samples.protected)
        charge = Charge(
            f"PrivateNMF, {algorithm.title}",
            normal_form(plan),
            guarantee.status,
            guarantee.unit,
            self.delta_,
            budget.relation,
        )
        # the same result whatever the number of threads
        with charging(samples, charge, self.ledger) as paid, single_threaded_blas:
            noise = paid.noise(plan, secret)
            model = algorithms.train(
                algorithm,
                samples,
                noise,
                Streams(np.random.default_rng(start), int(start.generate_state(1)[0])),
            )
        assert noise.spent == normal_form(plan)
        self.model_: Parts = model
        self.components_, self.ledger_ = model.basis, noise.spent
        self.guarantee_: Guarantee = guarantee
        self.noise_is_reproducible_, self.noise_ = noise.is_reproducible, noise.words
        self.epsilon_ = exactly(plan, self.delta_) if self.guarantee_.has_epsilon else None
        return self

    def transform(self, X: Any) -> Array:
        """Coefficients (n_samples, n_components) of each row on the released parts, in the
        row's own units.
        """
        check_is_fitted(self)
        samples = self._samples(X, reset=False)
        H: Array = self.model_.personal(samples).coefficients * samples.norms[:, None]
        return H.astype(X.dtype if getattr(X, "dtype", None) == np.float32 else np.float64)

    def inverse_transform(self, H: Any) -> Array:
        """Rows (n_samples, n_features) with these coefficients."""
        check_is_fitted(self)
        return np.asarray(np.asarray(H) @ self.components_)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.non_deterministic = True
        return tags

    def _samples(self, X: Any, reset: bool) -> Samples:
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        check_non_negative(X, f"{type(self).__name__} (input X)")
        return Samples.of(X, image=self.image_shape, public=self.public)

    def _streams(self) -> tuple[np.random.SeedSequence | None, np.random.SeedSequence]:
        """The noise's stream, None for a secret one, and that of starting values."""
        if self.random_state is None:
            return None, np.random.SeedSequence()
        noise, start = np.random.SeedSequence(
            int(check_random_state(self.random_state).randint(2**31 - 1))
        ).spawn(2)
        return noise if self.public else None, start
