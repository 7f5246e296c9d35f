"""The options of functions. Made by `python .ci/options.py`: change what it reads.

Facts of data are those of `dpmf_core.data.facts`, parameters of a run those of `RunSpec`, and the
others are parameters of algorithms. An algorithm in another package has its own: give them as
`parameters={"name": value}`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypedDict

import pandas as pd


class TableOptions(TypedDict, total=False):
    """Facts of a file of ratings."""

    users: int
    """The public number of users: a whole number of at least 1, with at most 15 digits"""
    items: int
    """The public number of items: a whole number of at least 1, with at most 15 digits"""
    user: str
    """The column that names the person of each row"""
    item: str
    """The column that names the item of each row"""
    rating: str
    """The column of ratings; empty if a row only says that a user had an item"""
    time: str
    """The column of times"""
    title: str
    """The column of the items' names"""
    dates: Literal["dmy", "mdy"]
    """The order in dates such as 03/04/2021: dmy (day first) or mdy (month first)"""
    item_table: str | Path
    """A public table of the items, one row per item"""
    item_encoding: str
    """The encoding of the table of items"""
    sheet: str
    """The sheet of a spreadsheet"""
    header: int
    """The line (or row of a sheet) that names the columns, counted from 1; 0 for none"""
    leave: str | Sequence[str]
    """The columns of a wide table that hold no ratings, separated by commas"""
    multiline: bool
    """Whether a quoted cell may reach over several lines: true or false"""
    member: str
    """The file in an archive or folder"""
    layout: Literal["long", "wide"]
    """The layout of the table: long (one row per rating) or wide (one row per user, one column
    per item)"""
    table: str
    """The table of a database"""
    encoding: str
    """The encoding of a text file, e.g. cp1251"""


class FactOptions(TableOptions, total=False):
    """Facts of any file."""

    text: str
    """The column of documents"""
    key: str
    """The variable of a MATLAB file"""
    image: tuple[int, int]
    """The size of pictures: height and width separated by a comma, e.g. 32,32"""
    drop: int | Sequence[int]
    """Columns of a matrix that are left out: columns counted from 1, separated by commas"""
    order: Literal["columns", "lines"]
    """The order of pixels: columns (as in MATLAB) or lines"""
    transpose: Literal["0", "1"]
    """1 if the rows of a matrix are the pixels or words and its columns are the samples"""
    group: str
    """The column with the person of each document or image"""
    people: int
    """The public number of people: a whole number of at least 1, with at most 15 digits"""
    shortest: int
    """The least number of letters of a word, from 1 to 20"""
    stop_words: str | Path
    """Words that are not counted: english, none, another language's, or a file of them"""


class SweepOptions(FactOptions, total=False):
    """How data are prepared and split."""

    most_samples: int | None
    """samples: keep this many rows, chosen by a hash"""
    hashed: int | None
    """documents: hash words into this many buckets; uses no other document"""
    min_df: int
    """documents: keep words in at least this many documents"""
    max_df: float
    """documents: keep words in at most this share of documents"""
    most_words: int | None
    """documents: keep this many words, those in most documents"""
    drawn_words: int | None
    """documents: keep this many words, chosen by a hash"""
    weighting: Literal["tfidf", "tf", "none"] | None
    """documents: tfidf unless another is given"""
    outlier_rows: float
    """samples: plant outliers in this share of the rows"""
    outlier_cells: float
    """samples: share of those rows' cells with outliers"""
    top_items: int | None
    """keep only this many of the most rated items"""
    min_user_count: int
    """ignore the ratings of users with fewer ratings than this"""
    min_item_count: int
    """keep items with at least this many ratings"""
    most_per_user: int | None
    """keep at most this many ratings per user, chosen by a hash"""
    positives_above: float | None
    """recall task: ratings above this become 1, others are left out"""
    item_features: Literal["none", "public"] | pd.DataFrame
    """what algorithms may know about items besides ratings: nothing, or the data set's public
    item table"""
    item_choice: Literal["exact", "private"]
    """how items or words are chosen. exact: by exact counts, and treated as public; private: by
    noisy counts above a threshold, which is a release"""
    row_count: Literal["given", "private"]
    """number of users or samples. given: public; private: a noisy release"""
    test_fraction: float
    """test fraction"""
    validation_fraction: float
    """validation fraction"""
    fold_in: float
    """users: the share of a held-out user's ratings that the model sees"""
    windows: int
    """window: number of time windows, with equally many ratings in each"""
    window: int
    """window: the held-out window, counted from 0; at least 1"""
    least_judged: int
    """held-out ratings of users and items with fewer ratings than this are excluded from
    training and evaluation"""
    calibration: Literal["exact", "source"]
    """exact: just enough noise for ε; source: as much as the source's own rule requires"""
    curve_points: int
    """largest number of points in the error by step, including the first and last"""


class AlgorithmOptions(TypedDict, total=False):
    """Parameters of algorithms."""

    arrival: Literal["random", "time"]
    """in random order, or by time if the data have times (no-retention)"""
    arrived_share: float
    """share of the arriving ratings that come before the model is used; 1: all (no-
    retention)"""
    as_printed: bool
    """See `algorithms`: of sgd-mf, sketch, no-retention"""
    attention: int
    """singular vectors of the user x item pattern of ratings, as side information; 0: none
    (bmf)"""
    attention_share: float
    """of the mu² left after biases, for users' prior means by which items they rated; 0: prior
    means of 0 (spectral)"""
    average_share: float
    """of the total mu²; a fifteenth of it for the global one (svd-cleansing)"""
    averaged_share: float
    """steps: share of the last states, averaged for the result; 0: the last state only
    (sgld)"""
    basis_passes: int
    """passes over the components, each solved for the released sums; they cost no budget (dp-
    nmf)"""
    basis_rate: float
    """above 0: one gradient step at this rate on the sums over N, as in the source; 0: solve
    for the components (dp-nmf)"""
    bias_share: float
    """See `algorithms`: of dpals, ada-dpals, dp-sgd, sgld, spectral"""
    biases: Literal["auto", "off", "user", "first", "joint"] | bool
    """See `algorithms`: of als, input-perturbation, dpals, ada-dpals, dp-sgd, spectral, fw,
    pgd, private-pgd, sgld"""
    centring: Literal["none", "user", "global"]
    """without biases, subtract: nothing, the user's own mean, or a noisy global mean (dpals,
    ada-dpals)"""
    cg_steps: int
    """steps of conjugate gradients for each row, with solver cg (als, input-perturbation)"""
    clamp: bool
    """clip noisy ratings to the declared range; post-processing (input-perturbation)"""
    clip_norm: float
    """See `algorithms`: of dpals, ada-dpals, dp-sgd"""
    coefficient_clip: float
    """largest L2 norm of a sample's coefficients in the sums (dp-nmf)"""
    damping: float
    """pseudo-count that pulls offsets towards 0 (bias)"""
    decay: float
    """See `algorithms`: of sgd-mf, sketch"""
    depth: int
    """rows of the sketch; 1 is feature hashing (sketch)"""
    disjoint_users: bool
    """each step uses a different 1/T of the users, chosen by their numbers, with the noise of
    one step (dpals, ada-dpals)"""
    draws: int
    """how many sweeps of the last three quarters are averaged for predictions (bmf)"""
    error_clip: float
    """posterior sample: a user's mean squared error at which their likelihood is clipped, in
    squared quarters of the range (sgld)"""
    features_kept: int
    """documents: how many words enter the second moment (oneshot-nmf)"""
    frequent_fraction: float
    """See `algorithms`: of als, input-perturbation, dpals, ada-dpals, dpfw, dpfw-oja"""
    gradient_clip: float
    """steps: largest norm of one user's gradient, for ratings in quarters of the range
    (sgld)"""
    gram_share: float
    """of each step; the rest goes to the right-hand sides (dpals, ada-dpals)"""
    implicit: bool
    """uses which items were rated, not their ratings: for lists (recall) rather than ratings
    (spectral)"""
    inner_rate: float
    """v moves by c/Γ of the normalised noisy product; large: power iteration (dpfw-oja)"""
    inner_steps: int
    """noisy products per direction; one more gives its singular value (dpfw-oja)"""
    item_biases: bool
    """subtract each item's mean rating less its raters' means, and keep this offset with the
    item (no-retention)"""
    item_damping: float
    """pseudo-count that pulls item averages to the global one (svd-cleansing)"""
    item_rate: float
    """of item factors on arrival; 0: the source's, .05 for new and .005 for rated (.05 for a
    shared step) (no-retention)"""
    items_kept: int
    """factors for this many items, by highest count; 0: as many as reduce the error
    (spectral)"""
    iterations: int
    """See `algorithms`: of nmf, oneshot-nmf"""
    learning_rate: float
    """See `algorithms`: of dp-sgd, sgd-mf, sketch"""
    likelihood_power: float
    """steps: largest weight of the likelihood; if the noise would allow more, the chain is
    colder (sgld)"""
    local_columns: bool
    """each user's own regression also fits the released item offsets and counts, and public
    item features if there are any; costs no budget (bias, private-bias, local-bias, als, dpals,
    ada-dpals, spectral, fw, dpfw, dpfw-oja, private-svd, svd-cleansing, pgd, private-pgd, dp-
    sgd, sgld, input-perturbation)"""
    loss: Literal["half", "whole"]
    """half: ratings with a larger half of the squared error are skipped (section 3.2 of the
    source); whole: the squared error is clipped, which leaves the pull towards 0 (section 4.3)
    (sketch)"""
    model: Literal["biased", "centred"]
    """biased: learns offsets, and each user's factor is refitted; centred: subtracts means and
    keeps users' factors (regular factorisation of Balu & Furon 2016) (sgd-mf)"""
    moment_share: float
    """of a step's mu²; the source's noise corresponds to 0.5 with Δ_B = 2/N, and to 0.8 with
    Δ_B = 4/N, which it uses when it removes outliers (dp-nmf)"""
    noise_ridge: float
    """further pull towards 0, in multiples of the largest eigenvalue of the Grams' noise
    (dpals, ada-dpals)"""
    noise_schedule: Literal["constant", "growing"]
    """how noise is divided between steps: equally, or growing with √t (dpfw, dpfw-oja)"""
    nuclear_norm: float
    """radius of the ball, in √(n m) half-ranges of the rating scale (fw, dpfw, dpfw-oja, pgd,
    private-pgd)"""
    orthonormalise: bool
    """orthonormal item factors between steps (dpals, ada-dpals)"""
    outlier_limit: float
    """largest outlier (robust-nmf, dp-nmf)"""
    outlier_threshold: float
    """larger residuals count as outliers; rows have norm 1 (robust-nmf, dp-nmf)"""
    outliers: bool
    """remove sparse outliers before the sums (dp-nmf)"""
    passes: int
    """updates of coefficients and outliers per step (robust-nmf)"""
    penalty: float
    """pull of factors towards 0 (no-retention)"""
    points: int
    """points drawn from the released moments and factorised; they cost no budget (oneshot-
    nmf)"""
    popularity_exponent: float
    """a row's entries are weighted by (noisy count)^exponent (spectral)"""
    prediction_ridge: float
    """See `algorithms`: of dpals, ada-dpals, spectral, dpfw, dpfw-oja, private-svd, svd-
    cleansing, sgd-mf, sgld, dpnmf-laplace"""
    prior_deviation: float
    """in quarters of the rating range; controls shrinkage (private-bias, local-bias)"""
    prior_precision: float
    """of every factor (sgld)"""
    product_clip: float
    """largest L2 norm of a user's contribution to a product, as a share of the squared row
    clip; 1, as in the source: the clipped row's whole contribution (dpfw-oja)"""
    psd: bool
    """project noisy Gram matrices onto the positive semi-definite cone (dpals, ada-dpals)"""
    query: Literal["mean", "median"]
    """how the rows of the table give a component: their mean, which the source uses, or their
    median, which it names as more robust to noise (sketch)"""
    rank: int
    """See `algorithms`: of als, bmf, dpals, ada-dpals, dp-sgd, sgd-mf, sgld, input-
    perturbation, spectral, private-svd, svd-cleansing, dpnmf-laplace, sketch, no-retention"""
    rarity_exponent: float
    """weight ∝ (noisy item count)^-μ′ (ada-dpals)"""
    rate: float
    """of the static training and of a user's vector (no-retention)"""
    rated_step: Literal["whole", "shared"]
    """whole: every item the user rated takes a full step; shared: they share one step, as the
    source suggests against a bias to active users (no-retention)"""
    rating_clip: float
    """largest centred rating, in half-ranges of the rating scale (dpals, ada-dpals)"""
    ratings_per_user: int
    """See `algorithms`: of als, input-perturbation, dpals, ada-dpals, svd-cleansing, sgld"""
    reading: Literal["steps", "posterior-sample"]
    """what the account is based on: the noise of every step (proven), or one sample of a
    posterior that the chain may not have reached (unproven) (sgld)"""
    refinement_share: float
    """of the mu² left after biases and attention (spectral)"""
    refinement_steps: int
    """noisy gradients; each costs budget (spectral)"""
    regularisation: float
    """See `algorithms`: of als, input-perturbation, ease, dpals, ada-dpals, sgd-mf, sketch"""
    regularisation_exponent: float
    """See `algorithms`: of als, input-perturbation, dpals, ada-dpals"""
    release: Literal["covariance", "iteration", "none"]
    """the whole second moment; some columns and products with the subspace they span: less
    memory; none: only offsets (lists: counts) (spectral)"""
    resample: bool
    """each step draws a new k of a user's ratings and learns the user's factor from 1/T of
    them, as analysed in the source; off: as the source does in practice (dpals, ada-dpals)"""
    rounds: int
    """products with the subspace, after the columns; each costs budget (spectral)"""
    row_clip: float
    """See `algorithms`: of dpfw, dpfw-oja, private-svd, svd-cleansing, private-pgd"""
    sampling: Literal["uniform", "adaptive"]
    """See `algorithms`: of als, input-perturbation, dpals, ada-dpals"""
    second_moment: bool
    """off: the sum takes the whole budget and the components are parts of the mean row
    (oneshot-nmf)"""
    shrinkage: float
    """eigenvalues are reduced by this multiple of the edge of the noise's spectrum
    (spectral)"""
    slack: bool
    """add √(σ ln(m/b)) m^¼ to the singular value, as in the source; it costs accuracy (dpfw,
    dpfw-oja)"""
    solver: Literal["exact", "cg"]
    """least squares in each step: exact, or faster by conjugate gradients started from the
    previous step; the last item step is always exact (als, input-perturbation)"""
    source_bound: Literal["2L", "ratings"] | Literal["2L", "L"]
    """See `algorithms`: of dpfw, dpfw-oja, private-pgd"""
    space_gain: float
    """size of the factors divided by the size of the table (sketch)"""
    start: (
        Literal["random", "private-svd", "spectral"]
        | Literal["nndsvda", "nndsvd", "random"]
        | Literal["random", "mean-row", "private-svd", "nndsvd"]
    )
    """See `algorithms`: of dpals, ada-dpals, nmf, dp-nmf"""
    start_deviation: float
    """standard deviation of the starting factors (sgd-mf)"""
    start_share: float
    """See `algorithms`: of dpals, ada-dpals, dp-nmf"""
    static_share: float
    """of the ratings, known before the rest arrive (no-retention)"""
    step_size: Literal["2/(t+2)", "1/T"] | float
    """See `algorithms`: of fw, dpfw, dpfw-oja, pgd, private-pgd, sgld"""
    steps: int
    """See `algorithms`: of als, input-perturbation, bmf, dpals, ada-dpals, fw, dpfw, dpfw-oja,
    pgd, private-pgd, dp-sgd, sgd-mf, sgld, dpnmf-laplace, sketch, no-retention, robust-nmf, dp-
    nmf"""
    sum_share: float
    """of the total mu², for the sum of all rows (oneshot-nmf)"""
    taste: float
    """expected share of a rating's variance in one factor; determines how many items get
    factors (spectral)"""
    threshold: float
    """ratings with a larger loss are skipped or clipped; this is not a privacy loss (sketch)"""
    unobserved_weight: float
    """See `algorithms`: of als, input-perturbation, dpals, ada-dpals"""
    user_damping: float
    """pseudo-count that pulls a user's own average to 0 (svd-cleansing)"""
    user_passes: int
    """over a user's own ratings, to compute their vector (no-retention)"""
    user_regularisation: float
    """See `algorithms`: of dpals, ada-dpals, dp-sgd"""
    user_step: Literal["steps", "ridge"] | Literal["ridge", "projection"]
    """See `algorithms`: of dpfw, dpfw-oja, private-svd, svd-cleansing"""
    variant: Literal["baseline", "static", "online", "new", "rated"]
    """baseline: keeps all data and retrains; static: knows the static ratings alone; online:
    keeps all data and refits vectors; new, rated: keeps nothing and updates the new item, or
    all rated items (no-retention)"""


class RunOptions(SweepOptions, AlgorithmOptions, total=False):
    """What `fit` takes in addition to its named parameters."""

    n_components: int
    """number of components (topics) (nmf, robust-nmf, dp-nmf, oneshot-nmf)"""
