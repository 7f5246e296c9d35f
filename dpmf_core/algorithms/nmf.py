"""Non-negative factorisation without privacy, and with it: Saha & Imtiaz 2022 [S22], corrected as privacy.md, section 3, says.

[S22] write V (D x N) = W H + R with a sample a column; here X (N x D) ~ H W + R, a sample a row of norm 1, W's rows the parts.
"""

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from dpmf_core.algorithms.base import INSIDE, Array, Fit, Streams, Watch, unwatched
from dpmf_core.algorithms.parts import PUBLIC_FACTS, Factorisation, Parts, dense, unit_rows
from dpmf_core.errors import BadInput
from dpmf_core.kernels import parts as kernel
from dpmf_core.privacy import NOTHING, Budget, Event, Gaussian, Guarantee, Noise, Repeat, Status, sequence
from dpmf_core.samples import Matrix, Samples, SampleShape, by_row, energies, is_sparse

COEFFICIENTS, PRODUCTS, START = "second moment of the coefficients", "coefficients times samples", "second moment of the samples"
MOST_MOMENTS = 4096  # features of a second moment held in full: 134 MB
TOGETHER = 10  # iterations between two looks at the objective
Start = Literal["random", "private-svd", "nndsvd"]

_COMPONENTS: Any = Field(8, ge=1, le=512, title="parts K", description="number of parts, or topics")
_THRESHOLD: Any = Field(0.01, gt=0, le=1, title="outlier threshold λ", description="residuals beyond it count as outliers; a row has norm 1")
_LIMIT: Any = Field(1.0, gt=0, le=10, title="outlier limit M", description="largest outlier")


class NMF(Factorisation):
    """scikit-learn's coordinate descent."""

    id: ClassVar[str] = "nmf"
    title: ClassVar[str] = "NMF"
    words: ClassVar[str] = "non-negative factorisation by coordinate descent; nothing is private"
    source: ClassVar[str] = "Cichocki & Phan 2009; scikit-learn"

    n_components: int = _COMPONENTS
    iterations: int = Field(200, ge=1, le=10_000, title="iterations", description="of coordinate descent, at most")
    start: Literal["nndsvda", "random"] = Field("nndsvda", title="start", description="singular vectors' non-negative parts, or random")

    def fit(self, data: Samples, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        X, n = data.scaled(data.X), math.ceil(self.iterations / TOGETHER)
        H, W = _started(X, self.n_components, self.start, int(rng.init.integers(2**31)))
        model = Parts(_balanced(W))
        for step in range(n):
            H, W, settled = _descended(X, H, W, min(TOGETHER, self.iterations - step * TOGETHER))
            model = Parts(_balanced(W))
            if settled:
                watch(n, n, model)
                break
            watch(step + 1, n, model)
        return Fit(model, noise.spent)


def _started(X: Matrix, K: int, start: str, seed: int) -> tuple[Array, Array]:
    """Starting values; singular vectors only where there are enough of them."""
    from sklearn.decomposition._nmf import _initialize_nmf

    H, W = _initialize_nmf(X, K, init=start if min(X.shape) > K else "random", random_state=seed)
    return np.ascontiguousarray(H, X.dtype), np.ascontiguousarray(W, X.dtype)


def _descended(X: Matrix, H: Array, W: Array, iterations: int) -> tuple[Array, Array, bool]:
    """Some more iterations; whether they ended before their number."""
    from sklearn.decomposition import non_negative_factorization

    if not (H.any() and W.any()):  # nothing to be found
        return H, W, True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged yet
        H, W, done = non_negative_factorization(X, W=H, H=W, n_components=len(W), init="custom", max_iter=iterations, tol=1e-4)
    return H, W, done < iterations


def _balanced(W: Array) -> Array:
    """Rows of norm 1, float32: their size belongs to the coefficients."""
    norms = np.linalg.norm(W.astype(np.float64), axis=1, keepdims=True)
    return np.asarray(W / np.maximum(norms, 1e-30), np.float32)


class RobustNMF(Factorisation):
    """Parts, coefficients and sparse outliers fitted together [S22, section 2.3]."""

    id: ClassVar[str] = "robust-nmf"
    title: ClassVar[str] = "Robust NMF"
    words: ClassVar[str] = "non-negative factorisation that sets sparse outliers apart; nothing is private"
    source: ClassVar[str] = "Zhao & Tan 2017; Saha & Imtiaz 2022, section 2.3"

    n_components: int = _COMPONENTS
    steps: int = Field(20, ge=1, le=2000, title="steps", description="updates of the parts")
    passes: int = Field(15, ge=1, le=200, title="passes", description="updates of coefficients and outliers in a step")
    outlier_threshold: float = _THRESHOLD
    outlier_limit: float = _LIMIT

    def fit(self, data: Samples, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        X = dense(data)
        start = _started(X, self.n_components, "nndsvda", int(rng.init.integers(2**31)))
        _, W, _ = _descended(X, *start, TOGETHER)
        model, H = Parts(_balanced(W), self.outlier_threshold, self.outlier_limit), None
        for step in range(self.steps):
            W = np.asarray(model.basis)
            H, R = kernel.robust_coefficients(X, W, self.outlier_threshold, self.outlier_limit, H, passes=self.passes)
            A, B = (H.T @ H).astype(np.float64), (H.T @ (X - R)).astype(np.float64)
            model = replace(model, basis=kernel.basis(A, B, W.astype(np.float64), TOGETHER).astype(np.float32))
            watch(step + 1, self.steps, model)
        return Fit(model, noise.spent)


class DPNMF(Factorisation):
    """Each step releases two noisy sums over samples and moves the parts along them [S22, Alg. 2]."""

    id: ClassVar[str] = "dp-nmf"
    title: ClassVar[str] = "DP-NMF"
    words: ClassVar[str] = "alternating steps; each releases two noisy sums over all samples"
    source: ClassVar[str] = "Saha & Imtiaz 2022, Alg. 2"

    n_components: int = _COMPONENTS
    steps: int = Field(3, ge=1, le=1000, title="steps T", description="each is paid for")
    start: Start = Field("random", description="random; from a noisy second moment, which is paid for; or from the private data themselves, as the source does")
    outliers: bool = Field(False, description="set sparse outliers apart before the sums")
    outlier_threshold: float = _THRESHOLD
    outlier_limit: float = _LIMIT
    coefficient_clip: float = Field(1.0, gt=0, le=10, title="coefficient clip C_h", description="largest L2 norm of a sample's coefficients in the sums")
    moment_share: float = Field(
        0.1, gt=0, lt=1, title="share of the coefficients' moment", description="of a step's mu²; the source's two noises amount to 0.8"
    )
    start_share: float = Field(0.5, gt=0, lt=1, title="share of the start", description="of the total mu², for a start from a noisy second moment")
    basis_passes: int = Field(10, ge=1, le=1000, title="basis passes", description="rounds over the parts, each solved for the released sums; free")
    basis_rate: float = Field(
        0.0,
        ge=0,
        le=100,
        title="basis rate η_W",
        description="instead, one gradient step of this rate on the sums over N, as in the source; 0: parts are solved for",
    )

    def check(self, shape: SampleShape) -> None:
        super().check(shape)
        if self.start == "private-svd" and shape.n_features > MOST_MOMENTS:
            raise BadInput(
                f"A start from the second moment holds at most {MOST_MOMENTS:,} features. Got {shape.n_features:,}. Use start=random or fewer words."
            )

    def plan(self, shape: SampleShape, level: float) -> Event:
        first = self.start_share if self.start == "private-svd" else 0.0
        C, each = self.coefficient_clip, level / math.sqrt(1 - first)
        step = sequence(
            Gaussian(each / math.sqrt(self.moment_share), COEFFICIENTS, C * C, math.sqrt(2)),
            Gaussian(each / math.sqrt(1 - self.moment_share), PRODUCTS, C, 2.0 if self.outliers else math.sqrt(2)),
        )
        return sequence(Gaussian(level / math.sqrt(first), START, 1.0, math.sqrt(2)) if first else NOTHING, Repeat(step, self.steps))

    def source_level(self, shape: SampleShape, budget: Budget) -> float:
        """The nominal epsilon is each statistic's, each step's: sigma = sensitivity sqrt(2 ln(1.25/delta)) / epsilon, sensitivities 2/N and 4/N, ours 1/N."""
        if self.start == "private-svd" or not math.isclose(self.moment_share, 0.8):
            raise BadInput(
                "The source's noise holds for start=random or nndsvd and moment_share=0.8: that is how its two sensitivities, 2/N and 4/N, divide a step."
            )
        classical = math.sqrt(2 * math.log(1.25 / budget.delta)) / budget.epsilon
        return 2 * classical * math.sqrt(0.8)

    def guarantee(self) -> Guarantee:
        if self.start == "nndsvd":
            why = "the start is computed from the private samples without noise and leaves its traces in every released step"
            return Guarantee(Status.UNPROVEN, "sample", taken_as_public=PUBLIC_FACTS, claim="strict privacy guarantees", reason=why)
        return Guarantee(Status.PROVEN, "sample", taken_as_public=PUBLIC_FACTS)

    def fit(self, data: Samples, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        """A sample's h is clipped to C and its cleaned row has norm at most 1: it moves sum h h^T by ||h||^2 <= C^2, sum h x^T by at most C.

        Replaced by another: ||h h^T - g g^T||_F^2 <= ||h||^4 + ||g||^4, and ||h x^T - g y^T||_F <= 2 C, sqrt(2) C where no entry is negative.
        """
        X, W = unit_rows(data), self._start(data, noise, rng)
        model = Parts(W, self.outlier_threshold if self.outliers else None, self.outlier_limit)
        for step in range(self.steps):
            H, rest = self._local(data, X, model)
            A = noise.symmetric(COEFFICIENTS, _gram(H), sensitivity=self.coefficient_clip**2)
            B = noise.vector(PRODUCTS, np.asarray((rest.T @ H).T), sensitivity=self.coefficient_clip)
            W = self._moved(W.astype(np.float64), _definite(A), B, data.shape.n_samples)
            model = replace(model, basis=W.astype(np.float32))
            watch(step + 1, self.steps, model)
        return Fit(model, noise.spent)

    def _moved(self, W: Array, A: Array, B: Array, n: int) -> Array:
        if self.basis_rate:
            return kernel.in_unit_ball(np.maximum(W - self.basis_rate * (A @ W - B) / n, 0))
        return kernel.basis(A, B, W, self.basis_passes)

    def _local(self, data: Samples, X: Matrix, model: Parts) -> tuple[Array, Matrix]:
        """Every sample's clipped coefficients (n, K), float64, and its row less outliers, clipped to norm 1."""
        own = model.personal(data)
        H = _clipped(own.coefficients.astype(np.float64), self.coefficient_clip)
        return H, X if own.outliers is None else _clipped(dense(data).astype(np.float64) - own.outliers, 1.0)

    def _start(self, data: Samples, noise: Noise, rng: Streams) -> Array:
        K, d = self.n_components, data.shape.n_features
        if self.start == "nndsvd":
            return _balanced(_started(data.scaled(data.X), K, "nndsvda", int(rng.init.integers(2**31)))[1])
        W = rng.init.uniform(0, 1, (K, d))
        if self.start == "private-svd":
            M = noise.symmetric(START, _gram(unit_rows(data)), sensitivity=1.0)
            values, vectors = np.linalg.eigh(M)
            W = _signed_halves(values[::-1][:K], vectors[:, ::-1][:, :K].T, 0.01 * W.mean() / math.sqrt(d))
        return _balanced(W)


def _signed_halves(values: Array, vectors: Array, least: float) -> Array:
    """The larger of each eigenvector's positive and negative half (Boutsidis & Gallopoulos 2008), and a little of everything. vectors: (K, d)."""
    up, down = np.maximum(vectors, 0), np.maximum(-vectors, 0)
    return np.asarray(np.where((np.linalg.norm(up, axis=1) >= np.linalg.norm(down, axis=1))[:, None], up, down) + least)


def _gram(rows: Matrix) -> Array:
    """sum of x x^T over rows, exactly symmetric, float64."""
    product = rows.T @ rows
    G = np.asarray(product.toarray() if is_sparse(product) else product, np.float64)
    return np.asarray((G + G.T) / 2)


def _clipped(rows: Array, bound: float) -> Array:
    return np.asarray(rows * np.minimum(1, bound * INSIDE / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)))


def _definite(A: Array) -> Array:
    """The nearest positive semi-definite matrix; free."""
    values, vectors = np.linalg.eigh(A)
    return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)


class OneShotNMF(Factorisation):
    """One noisy second moment, then as much factorisation as one likes.

    A noisy sum of the rows orders the features (images: by spatial frequency, which needs no data); the second moment of the foremost is released once.
    Its eigenvectors above the noise (Johnstone 2001) and the mean describe a normal distribution; points drawn from it, cut off at 0, are factorised by
    scikit-learn without touching the data again. How many features are looked at is chosen on the released matrix: most energy left after noise.
    """

    id: ClassVar[str] = "oneshot-nmf"
    title: ClassVar[str] = "One-shot NMF"
    words: ClassVar[str] = "one noisy second moment, then factorised as often as one likes"
    source: ClassVar[str] = "ours, after Dwork, Talwar, Thakurta & Zhang 2014"

    n_components: int = _COMPONENTS
    sum_share: float = Field(0.1, gt=0, lt=1, title="share of the sum", description="of the total mu², for the sum of all rows")
    features_kept: int = Field(1000, ge=1, le=MOST_MOMENTS, title="features kept", description="of documents: how many words enter the second moment")
    smooth: bool = Field(True, description="of images: look at low spatial frequencies first, as images have little of the high ones")
    points: int = Field(1000, ge=10, le=100_000, title="points", description="drawn from the released moments to be factorised; free")
    iterations: int = Field(100, ge=1, le=10_000, title="iterations", description="of coordinate descent on the points; free")

    @classmethod
    def recommend(cls, shape: SampleShape, budget: Budget | None, given: Mapping[str, Any]) -> dict[str, Any]:
        """Words as the square root of samples times mu, for that is how far the noise lets one see."""
        chosen = super().recommend(shape, budget, given)
        if budget is None:
            return chosen
        wanted = max(2 * int(given.get("n_components", chosen["n_components"])), round(10 * math.sqrt(shape.n_samples * budget.mu)))
        return chosen | {"features_kept": min(wanted, shape.n_features, MOST_MOMENTS)}

    def check(self, shape: SampleShape) -> None:
        super().check(shape)
        if shape.image is not None and shape.n_features > MOST_MOMENTS:
            raise BadInput(f"Images of more than {MOST_MOMENTS:,} pixels are too large for a second moment. Got {shape.n_features:,}. Make them smaller.")

    def plan(self, shape: SampleShape, level: float) -> Event:
        return sequence(
            Gaussian(level / math.sqrt(self.sum_share), "sum of the samples", 1.0, math.sqrt(2)),
            Gaussian(level / math.sqrt(1 - self.sum_share), START, 1.0, math.sqrt(2)),
        )

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.PROVEN, "sample", taken_as_public=PUBLIC_FACTS)

    def fit(self, data: Samples, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        """A row x has norm at most 1, and so has its part in any coordinates: it moves the sum by ||x|| <= 1, the second moment by ||x||^2 <= 1.

        Rows are non-negative, so two of them differ by at most sqrt(2) in both.
        """
        from dpmf_core.algorithms import moments

        X = unit_rows(data)
        total = noise.vector("sum of the samples", np.asarray(X.sum(axis=0)).ravel(), sensitivity=1.0)
        if (image := data.shape.image) is not None:
            kept, axes = np.arange(data.shape.n_features), moments.by_frequency(image) if self.smooth else None
        else:
            kept, axes = np.argsort(-total, kind="stable")[: self.features_kept], None
            X, total = _renormalised(X[:, kept]), total[kept]
        release = noise.release(START, sensitivity=1.0, size=len(kept) * (len(kept) + 1) // 2)
        M = release.symmetric(_gram(X))
        found = moments.seen(M, total, release.scale, data.shape.n_samples, axes)
        points = found.points(rng.init.standard_normal((self.points, len(kept))))  # as many numbers whatever was seen
        W = np.zeros((self.n_components, data.shape.n_features))
        W[:, kept] = _factorised(points, self.n_components, self.iterations, rng)
        model = Parts(_balanced(W))
        watch(1, 1, model)
        return Fit(model, noise.spent)


def _renormalised(X: Matrix) -> Matrix:
    """Rows back to norm just below 1 after features were left out: a row's own affair."""
    norms = np.sqrt(energies(X))
    return by_row(X, np.where(norms > 0, INSIDE / np.maximum(norms, 1e-300), 0.0), np.float64)


def _factorised(points: Array, K: int, iterations: int, rng: Streams) -> Array:
    H, W = _started(points, K, "random", int(rng.init.integers(2**31)))
    _, W, _ = _descended(points, H, W, iterations)
    return W
