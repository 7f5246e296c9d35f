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

from dpmf_core.algorithms import moments
from dpmf_core.algorithms.base import INSIDE, Array, Fit, Streams, Watch, triangle, unwatched
from dpmf_core.algorithms.parts import PUBLIC_FACTS, Factorisation, Parts, counted, dense, unit_rows
from dpmf_core.errors import BadInput
from dpmf_core.kernels import parts as kernel
from dpmf_core.privacy import NOTHING, Budget, Calibration, Event, Gaussian, Guarantee, Noise, Repeat, Status, sequence
from dpmf_core.samples import Matrix, Samples, SampleShape, by_row, energies, is_sparse

COEFFICIENTS, PRODUCTS, START = "second moment of the coefficients", "coefficients times samples", "second moment of the samples"
SUM = "sum of the samples"
PAID_STARTS = {"mean-row": SUM, "private-svd": START}
SURE = 1.0  # deviations of noise by which steps must better the pieces of the mean row
MOST_MOMENTS = 4096  # features of a second moment held in full: 134 MB
TOGETHER = 10  # iterations between two looks at the objective
Start = Literal["random", "mean-row", "private-svd", "nndsvd"]

_COMPONENTS: Any = Field(8, ge=1, le=512, title="parts K", description="number of parts, or topics")
_THRESHOLD: Any = Field(0.01, gt=0, le=1, title="outlier threshold λ", description="residuals beyond it count as outliers; a row has norm 1")
_LIMIT: Any = Field(1.0, gt=0, le=10, title="outlier limit M", description="largest outlier")


def least_signal(shape: SampleShape) -> float:
    """Samples times mu below which a second moment costs the mean row more than it shows; a mean row of many words needs more to be seen itself.

    Chosen on 400 images of Extended Yale B and the invented faces and on 3,000 documents of TDT2; checked on digits and invented news.
    """
    return 150.0 if shape.image is not None else max(150.0, 2.6 * math.sqrt(shape.n_features))


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
    version: ClassVar[int] = 2

    n_components: int = _COMPONENTS
    steps: int = Field(3, ge=1, le=1000, title="steps T", description="each is paid for")
    start: Start = Field(
        "random",
        description="random; pieces of a noisy mean row, kept where steps do not better them, or a noisy second moment, which are paid for; "
        "or from the private data themselves, as the source does",
    )
    outliers: bool = Field(False, description="set sparse outliers apart before the sums")
    outlier_threshold: float = _THRESHOLD
    outlier_limit: float = _LIMIT
    coefficient_clip: float = Field(1.0, gt=0, le=10, title="coefficient clip C_h", description="largest L2 norm of a sample's coefficients in the sums")
    moment_share: float = Field(
        0.1, gt=0, lt=1, title="share of the coefficients' moment", description="of a step's mu²; the source's two noises amount to 0.8"
    )
    start_share: float = Field(0.25, gt=0, lt=1, title="share of the start", description="of the total mu², for a start from a noisy mean row or second moment")
    basis_passes: int = Field(10, ge=1, le=1000, title="basis passes", description="rounds over the parts, each solved for the released sums; free")
    basis_rate: float = Field(
        0.0,
        ge=0,
        le=100,
        title="basis rate η_W",
        description="instead, one gradient step of this rate on the sums over N, as in the source; 0: parts are solved for",
    )

    @classmethod
    def recommend(cls, shape: SampleShape, budget: Budget | None, given: Mapping[str, Any]) -> dict[str, Any]:
        """From the mean row, which takes most of a small budget; not where the noise is the source's, whose start is random or private."""
        chosen = super().recommend(shape, budget, given)
        if budget is None or budget.calibration is not Calibration.EXACT:
            return chosen
        if given.get("start", "mean-row") != "mean-row":
            return chosen
        little = shape.n_units * budget.mu < 4 * least_signal(shape)
        return chosen | {"start": "mean-row", "start_share": 0.9 if little else 0.1}

    def check(self, shape: SampleShape) -> None:
        super().check(shape)
        if self.start == "private-svd" and shape.n_features > MOST_MOMENTS:
            raise BadInput(
                f"A start from the second moment holds at most {MOST_MOMENTS:,} features. Got {shape.n_features:,}. Use start=random or fewer words."
            )

    def plan(self, shape: SampleShape, level: float) -> Event:
        first = self.start_share if self.start in PAID_STARTS else 0.0
        C, each = self.coefficient_clip, level * math.sqrt(self.steps / (1 - first)) if first else level  # without a paid start `level` is each step's
        step = sequence(
            Gaussian(each / math.sqrt(self.moment_share), COEFFICIENTS, C * C, math.sqrt(2)),
            Gaussian(each / math.sqrt(1 - self.moment_share), PRODUCTS, C, 2.0 if self.outliers else math.sqrt(2)),
        )
        return sequence(Gaussian(level / math.sqrt(first), PAID_STARTS[self.start], 1.0, math.sqrt(2)) if first else NOTHING, Repeat(step, self.steps))

    def coordinates(self, statistic: str, shape: SampleShape) -> int:
        own = {START: triangle(shape.n_features), COEFFICIENTS: triangle(self.n_components), PRODUCTS: shape.n_features * self.n_components}
        return own.get(statistic, super().coordinates(statistic, shape))

    def source_level(self, shape: SampleShape, budget: Budget) -> float:
        """The nominal epsilon is each statistic's, each step's: sigma = sensitivity sqrt(2 ln(1.25/delta)) / epsilon, sensitivities 2/N and 4/N, ours 1/N."""
        if self.start in PAID_STARTS or not math.isclose(self.moment_share, 0.8):
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

        So do all rows of a person together, which `counted` averages.

        Replaced by another: ||h h^T - g g^T||_F^2 <= ||h||^4 + ||g||^4, and ||h x^T - g y^T||_F <= 2 C, sqrt(2) C where no entry is negative.
        """
        X, first = unit_rows(data), self._start(data, noise, rng)
        W, gains = first, []
        model = Parts(W, self.outlier_threshold if self.outliers else None, self.outlier_limit)
        for step in range(self.steps):
            H, rest = self._local(data, X, model)
            A = noise.symmetric(COEFFICIENTS, _gram(counted(data, H, 0.5)), sensitivity=self.coefficient_clip**2)
            pen = noise.release(PRODUCTS, sensitivity=self.coefficient_clip, size=W.size)
            B = pen.vector(np.asarray((rest.T @ counted(data, H)).T))
            gains.append(((B * W).sum(), pen.scale**2 * (W.astype(np.float64) ** 2).sum()))
            W = self._moved(W.astype(np.float64), _definite(A), B, data.shape.n_units)
            model = replace(model, basis=W.astype(np.float32))
            watch(step + 1, self.steps, model)
        if self.start == "mean-row" and not _bettered(gains):
            model = replace(model, basis=first)
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
        if self.start == "mean-row":
            release = noise.release(SUM, sensitivity=1.0, size=d)
            total = release.vector(np.asarray(counted(data, unit_rows(data)).sum(axis=0)).ravel())
            row = moments.mean_row(total, release.scale, _axes(data.shape))
            return _balanced(moments.pieces(row, K, data.shape.image))
        if self.start == "private-svd":
            M = noise.symmetric(START, _gram(counted(data, unit_rows(data), 0.5)), sensitivity=1.0)
            values, vectors = np.linalg.eigh(M)
            W = _signed_halves(values[::-1][:K], vectors[:, ::-1][:, :K].T, 0.01 * W.mean() / math.sqrt(d))
        return _balanced(W)


def _bettered(gains: list[tuple[float, float]]) -> bool:
    """Whether the last parts that were looked at explain more than the first, beyond doubt of noise.

    gains: for each step's parts, the noisy sum of h W x, and its variance. At a least squares h, h W x = |h W|^2; the parts are older than the
    noise in the sum of h x^T, so that this is without bias.
    """
    (before, v), (after, w) = gains[0], gains[-1]
    return after - before > SURE * math.sqrt(v + w)


def _signed_halves(values: Array, vectors: Array, least: float) -> Array:
    """The larger of each eigenvector's positive and negative half (Boutsidis & Gallopoulos 2008), and a little of everything. vectors: (K, d)."""
    up, down = np.maximum(vectors, 0), np.maximum(-vectors, 0)
    return np.asarray(np.where((np.linalg.norm(up, axis=1) >= np.linalg.norm(down, axis=1))[:, None], up, down) + least)


def _axes(shape: SampleShape, smooth: bool = True) -> Array | None:
    """Orthonormal rows along which images gather what there is to see of them; None for what is none."""
    if shape.image is None or not smooth:
        return None
    return moments.by_frequency(shape.image)


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
    Where pieces of the released mean row explain more of that matrix, they are the parts; where little can be seen at all, nothing but the sum is released.
    """

    id: ClassVar[str] = "oneshot-nmf"
    title: ClassVar[str] = "One-shot NMF"
    words: ClassVar[str] = "one noisy second moment, then factorised as often as one likes"
    source: ClassVar[str] = "ours, after Dwork, Talwar, Thakurta & Zhang 2014"
    version: ClassVar[int] = 2

    n_components: int = _COMPONENTS
    sum_share: float = Field(0.1, gt=0, lt=1, title="share of the sum", description="of the total mu², for the sum of all rows")
    second_moment: bool = Field(True, title="second moment", description="off: the sum takes the whole budget, and the parts are pieces of the mean row")
    features_kept: int = Field(1000, ge=1, le=MOST_MOMENTS, title="features kept", description="of documents: how many words enter the second moment")
    smooth: bool = Field(True, description="of images: look at low spatial frequencies first, as images have little of the high ones")
    points: int = Field(1000, ge=10, le=100_000, title="points", description="drawn from the released moments to be factorised; free")
    iterations: int = Field(100, ge=1, le=10_000, title="iterations", description="of coordinate descent on the points; free")

    @classmethod
    def recommend(cls, shape: SampleShape, budget: Budget | None, given: Mapping[str, Any]) -> dict[str, Any]:
        """Words as the square root of samples times mu, for that is how far the noise lets one see; with next to nothing to see, the sum alone."""
        chosen = super().recommend(shape, budget, given)
        if budget is None:
            return chosen
        wanted = max(2 * int(given.get("n_components", chosen["n_components"])), round(10 * math.sqrt(shape.n_units * budget.mu)))
        seen = shape.n_units * budget.mu >= least_signal(shape)
        return chosen | {"features_kept": min(wanted, shape.n_features, MOST_MOMENTS), "second_moment": seen}

    def check(self, shape: SampleShape) -> None:
        super().check(shape)
        if shape.image is not None and shape.n_features > MOST_MOMENTS:
            raise BadInput(f"Images of more than {MOST_MOMENTS:,} pixels are too large for a second moment. Got {shape.n_features:,}. Make them smaller.")

    def plan(self, shape: SampleShape, level: float) -> Event:
        if not self.second_moment:
            return Gaussian(level, SUM, 1.0, math.sqrt(2))
        return sequence(
            Gaussian(level / math.sqrt(self.sum_share), SUM, 1.0, math.sqrt(2)),
            Gaussian(level / math.sqrt(1 - self.sum_share), START, 1.0, math.sqrt(2)),
        )

    def coordinates(self, statistic: str, shape: SampleShape) -> int:
        kept = shape.n_features if shape.image is not None else min(self.features_kept, shape.n_features)
        return triangle(kept) if statistic == START else super().coordinates(statistic, shape)

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.PROVEN, "sample", taken_as_public=PUBLIC_FACTS)

    def fit(self, data: Samples, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        """A row x has norm at most 1, and so has its part in any coordinates: it moves the sum by ||x|| <= 1, the second moment by ||x||^2 <= 1.

        Rows are non-negative, so two of them differ by at most sqrt(2) in both. So do all rows of two people, which `counted` averages.
        """
        X, shape = unit_rows(data), data.shape
        release = noise.release(SUM, sensitivity=1.0, size=shape.n_features)
        total = release.vector(np.asarray(counted(data, X).sum(axis=0)).ravel())
        W = moments.pieces(moments.mean_row(total, release.scale, _axes(shape, self.smooth)), self.n_components, shape.image)
        if self.second_moment:
            W = self._factorised(data, X, total, W, noise, rng)
        model = Parts(_balanced(W))
        watch(1, 1, model)
        return Fit(model, noise.spent)

    def _factorised(self, data: Samples, X: Matrix, total: Array, pieces: Array, noise: Noise, rng: Streams) -> Array:
        """Parts (K, d) of the released second moment, or the pieces of the mean row where these explain more of it."""
        shape = data.shape
        if shape.image is not None:
            kept = np.arange(shape.n_features)
        else:
            kept = np.argsort(-total, kind="stable")[: self.features_kept]
            X, total = _renormalised(X[:, kept]), total[kept]
        release = noise.release(START, sensitivity=1.0, size=len(kept) * (len(kept) + 1) // 2)
        M = release.symmetric(_gram(counted(data, X, 0.5)))
        found = moments.seen(M, total, release.scale, shape.n_units, _axes(shape, self.smooth))
        points = found.points(rng.init.standard_normal((self.points, len(kept))))  # as many numbers whatever was seen
        W = np.zeros((self.n_components, shape.n_features))
        W[:, kept] = _factorised(points, self.n_components, self.iterations, rng)
        return pieces if moments.explained(M, pieces[:, kept]) > moments.explained(M, W[:, kept]) - found.overstated(W[:, kept]) else W


def _renormalised(X: Matrix) -> Matrix:
    """Rows back to norm just below 1 after features were left out: a row's own affair."""
    norms = np.sqrt(energies(X))
    return by_row(X, np.where(norms > 0, INSIDE / np.maximum(norms, 1e-300), 0.0), np.float64)


def _factorised(points: Array, K: int, iterations: int, rng: Streams) -> Array:
    H, W = _started(points, K, "random", int(rng.init.integers(2**31)))
    _, W, _ = _descended(points, H, W, iterations)
    return W
