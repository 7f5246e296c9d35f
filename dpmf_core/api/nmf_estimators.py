"""Non-negative factorisation as scikit-learn estimators: `PrivateNMF` and `PlainNMF`."""

import math
import warnings
from typing import Any, Literal, Self, Unpack

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from dpmf_core.api.options import AlgorithmOptions
from dpmf_core.api.releases import (
    AlgorithmParameters,
    RandomState,
    Releasing,
    fitted_before,
    joined,
)
from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput
from dpmf_core.data.samples import NUMBER_IS_PUBLIC, PEOPLE_ARE_COUNTED, Samples


class _NMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Releasing):  # type: ignore[misc]  # scikit-learn has no types
    """What both factorisations share."""

    n_components: int
    image_shape: tuple[int, int] | None

    def fit(self, X: Any, y: Any = None, people: Any = None) -> Self:
        """Find the components of X.

        Parameters
        ----------
        X
            Non-negative rows (n_samples, n_features), dense or sparse.
        y
            Ignored.
        people
            The person of each row (n_samples,), whole numbers from 0. The unit of privacy is then a
            person with all their rows.

        Raises
        ------
        BadInput
            If a parameter cannot be used, or a budget does not allow the fit.
        ValueError
            If X is not an array that scikit-learn accepts, or holds a negative number.
        """
        if not isinstance(self.n_components, int | np.integer) or self.n_components < 1:
            raise BadInput(
                "n_components, the number of components, must be a whole number of at least 1. Got"
                f" {self.n_components!r}."
            )
        samples = self._samples(X, reset=True)
        samples = samples if people is None else samples.of_people(people)
        if not self.public:
            more = () if people is None else (PEOPLE_ARE_COUNTED,)
            samples = samples.assuming(*more, *fitted_before())
        K = min(self.n_components, samples.shape.n_features)
        if self.n_components > K:
            warnings.warn(
                f"n_components={self.n_components} is more than the {K} features: {K} components"
                " are found.",
                UserWarning,
                stacklevel=2,
            )
        self._train(samples, n_components=K)
        self.components_ = self.model_.basis
        return self

    def transform(self, X: Any) -> Array:
        """Find the coefficients of each row on the released components.

        They follow from the row itself, so they are private.

        Parameters
        ----------
        X
            Non-negative rows (n_samples, n_features), dense or sparse.

        Returns
        -------
        ndarray (n_samples, n_components)
            In the row's own units.

        Raises
        ------
        ValueError
            If X has another number of features or holds a negative number.
        """
        check_is_fitted(self)
        samples = self._samples(X, reset=False)
        H: Array = self.model_.personal(samples).coefficients * samples.norms[:, None]
        return H.astype(
            X.dtype if getattr(X, "dtype", None) == np.float32 else np.float64
        )

    def inverse_transform(self, H: Any) -> Array:
        """The rows (n_samples, n_features) with coefficients H (n_samples, n_components)."""
        check_is_fitted(self)
        return np.asarray(np.asarray(H) @ self.components_)

    def score(self, X: Any, y: Any = None) -> float:
        """The share of the squares of X that the components explain.

        It is computed on raw rows, so on private data it must not be shared.

        Parameters
        ----------
        X
            Non-negative rows (n_samples, n_features), dense or sparse.
        y
            Ignored.

        Returns
        -------
        float
            At most 1; larger is better.
        """
        check_is_fitted(self)
        samples = self._samples(X, reset=False)
        H = self.model_.personal(samples).coefficients * samples.norms[:, None]
        # rearranged, so that a sparse X stays sparse: |x - h W|^2 = |x|^2 - 2 h W x + |h W|^2
        rows = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=np.float64,
            reset=False,
        )
        total = float(np.sum(np.square(rows.data if hasattr(rows, "indptr") else rows)))
        cross_term = float(np.sum(H * (rows @ self.components_.T)))
        model_term = float(np.sum((H.T @ H) * (self.components_ @ self.components_.T)))
        if not total:
            if not model_term:
                return 1.0
            return -math.inf
        return (2 * cross_term - model_term) / total

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        return tags

    def _samples(self, X: Any, reset: bool) -> Samples:
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=np.float64,
            reset=reset,
        )
        check_non_negative(X, f"{type(self).__name__} (input X)")
        assumptions = () if self.public else (NUMBER_IS_PUBLIC,)
        return Samples.of(
            X,
            image=self.image_shape,
            public=self.public,
            assumptions=assumptions,
        )


class PrivateNMF(_NMF):
    """Non-negative components of samples, with privacy for each row of X.

    A fit has total privacy loss (epsilon, delta) for adding or removing a row, or with `fit(X,
    people=ids)` a person.

    Parameters
    ----------
    n_components
        The number of components, at least 1; there are never more than features.
    epsilon
        The total privacy loss of a fit, from 1e-4 to 1000.
    delta
        The slack of the bound. By default 1/(10 n) for n rows or people, rounded down.
    algorithm
        "oneshot-nmf" or "dp-nmf".
    image_shape
        (height, width) if rows are images.
    random_state
        The seed of starting values.
    public
        Whether the rows are published or simulated. Only then does random_state also seed the
        noise, so that a fit can be repeated. Noise on other rows comes from a secret key of the
        operating system, because anyone who can reproduce it can subtract it.
    noise
        "continuous", or "discrete": sums are rounded to a grid, and the noise is an exact discrete
        Gaussian on it.
    ledger
        The file of the account that a fit on private rows enters. By default an account in the data
        folder that all fits on data in memory in this process share.
    parameters
        The algorithm's, by name.
    **flat
        The algorithm's parameters one by one, such as `points=500`, which `GridSearchCV` can
        search.

    Attributes
    ----------
    components_ : ndarray (n_components, n_features)
        The released components.
    ledger_ : tuple
        What was released, for `privacy.epsilon`.
    guarantee_ : Guarantee
        What is proved.
    epsilon_, delta_ : float
        The cost.
    account_
        The account that the fit entered; None if public. It is not pickled.
    noise_, noise_is_reproducible_
        The noise in words, and whether a seed reproduces it.
    n_features_in_ : int
        The number of features.

    Examples
    --------
    >>> import dpmf, numpy
    >>> X = numpy.random.default_rng(0).random((50, 6))
    >>> model = dpmf.PrivateNMF(2, epsilon=1.0, public=True, random_state=0).fit(X)
    >>> model.components_.shape, round(model.epsilon_, 6)
    ((2, 6), 1.0)
    """

    def __init__(
        self,
        n_components: int = 8,
        *,
        epsilon: float = 1.0,
        delta: float | None = None,
        algorithm: Literal["oneshot-nmf", "dp-nmf"] = "oneshot-nmf",
        image_shape: tuple[int, int] | None = None,
        random_state: RandomState = None,
        public: bool = False,
        noise: Literal["continuous", "discrete"] = "continuous",
        ledger: str | None = None,
        parameters: AlgorithmParameters = None,
        **flat: Unpack[AlgorithmOptions],
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.algorithm = algorithm
        self.image_shape = image_shape
        self.parameters = joined(parameters, flat)
        self.random_state = random_state
        self.public = public
        self.noise = noise
        self.ledger = ledger


class PlainNMF(_NMF):
    """Non-negative components of samples without privacy, to compare with `PrivateNMF`.

    On private rows each fit enters their account as a release without a guarantee.

    Parameters
    ----------
    n_components
        The number of components, at least 1; there are never more than features.
    algorithm
        "nmf", or "robust-nmf", which separates outliers.
    image_shape
        (height, width) if rows are images.
    random_state
        The seed of starting values.
    public
        Whether the rows are published or simulated.
    ledger
        The file of the account that a fit on private rows enters; see `PrivateNMF`.
    parameters
        The algorithm's, by name.
    **flat
        The algorithm's parameters one by one, such as `steps=40`.

    Attributes
    ----------
    components_ : ndarray (n_components, n_features)
        The components, without noise.

    Examples
    --------
    >>> import dpmf, numpy
    >>> X = numpy.outer([1.0, 2.0, 3.0], [1.0, 0.0, 2.0])
    >>> round(dpmf.PlainNMF(1, public=True, random_state=0).fit(X).score(X), 3)
    1.0
    """

    def __init__(
        self,
        n_components: int = 8,
        *,
        algorithm: Literal["nmf", "robust-nmf"] = "nmf",
        image_shape: tuple[int, int] | None = None,
        random_state: RandomState = None,
        public: bool = False,
        ledger: str | None = None,
        parameters: AlgorithmParameters = None,
        **flat: Unpack[AlgorithmOptions],
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.image_shape = image_shape
        self.parameters = joined(parameters, flat)
        self.random_state = random_state
        self.public = public
        self.ledger = ledger
