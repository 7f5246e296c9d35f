"""An audit on given data: what the releases reveal about one person in these data.

The simulated data sets of `canary_data` exhaust the sensitivities, so an attack there shows most.
Here the rest of the data are real. The canary is one of their people, removed, or one more person
with the worst of a few rows. The loss holds for these data only: another row, or other people in
the data, may lose more, up to the proved epsilon.

Everything is computed from raw rows, repeatedly, with noise that a seed reproduces. It is for the
holder of the data. It is not a release, enters no account and is stored nowhere. Sharing it, or
choosing by it, reveals something about these people that no epsilon bounds.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm
from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput
from dpmf_core.base.progress import Tell, ignore
from dpmf_core.base.threads import single_threaded_blas
from dpmf_core.data import Data
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples, is_sparse
from dpmf_core.evaluation.audit.canary_data import Pair, protected_unit
from dpmf_core.evaluation.audit.membership_inference import Audit, AuditSpec, attack

DIRECTIONS = 20  # shared arrays are compared along these, the canary's own first


def audit_on(
    data: Data,
    algorithm: str,
    *,
    user: int | None = None,
    report: Tell = ignore,
    **fields: Any,
) -> Audit:
    """Attack an algorithm on these data, all of them, without a split.

    "Lost by this canary" needs few runs, because it has no sampling error.

    Parameters
    ----------
    data : Ratings or Samples
    algorithm : str
    user : int, optional
        The number, from 0, of the user (document, image) to remove; None adds one more.
    report : callable
        Called with the progress: a step is a training run.
    **fields
        The other fields of `AuditSpec`.

    Returns
    -------
    Audit

    Raises
    ------
    BadInput
        As `audit` does, and on data that the algorithm does not factorise.
    """
    kind = algorithms.find(algorithm)
    _must_suit(kind, data)
    unit = None if protected_unit(kind()) == "user" else "user"
    spec = AuditSpec.parse(algorithm=algorithm, unit=unit, **fields)
    if user is None:
        candidates = _with_one_more(data, spec.seed)
    else:
        candidates = (_without(data, user),)
    target = spec.target(candidates[0].absent.shape)
    with single_threaded_blas:
        pair = target.furthest(candidates)
    view = replace(target, lens=_lens(pair, spec.seed))
    return replace(attack(spec, view, pair, report), is_raw=not data.public)


def _must_suit(kind: type[Algorithm], data: Data) -> None:
    """Raise BadInput on data of another kind, or if a person has several rows."""
    if isinstance(data, Ratings):
        holds = "ratings"
    else:
        holds = "samples"
    if kind.task != holds:
        raise BadInput(
            f"{kind.title} factorises {kind.task}; {data.name} holds {holds}. Choose another"
            " algorithm."
        )
    if isinstance(data, Samples) and data.people is not None:
        raise BadInput(
            "An audit removes or adds one row, but in these data a person has several rows. Leave"
            " out the column that says whose each row is."
        )


# ---- one of these people -------------------------------------------------------------------------


def _without(data: Data, user: int) -> Pair:
    """The data without one unit's row, which becomes empty."""
    if not 0 <= user < data.shape.n_units:
        raise BadInput(
            f"{data.name} has the users 0 to {data.shape.n_units - 1:,}. Got {user:,}."
        )
    if isinstance(data, Ratings):
        count = int((data.users == user).sum())
        words = f"user {user} of {data.name}, removed with {count:,} ratings"
        return Pair(words, data.only(data.users != user), data)
    X = data.X.tolil() if is_sparse(data.X) else data.X.copy()
    X[user] = 0
    absent = replace(data, X=csr_array(X) if is_sparse(data.X) else X)
    return Pair(f"{data.unit} {user} of {data.name}, removed", absent, data)


# ---- one more ------------------------------------------------------------------------------------


def _with_one_more(data: Data, seed: int) -> tuple[Pair, ...]:
    """The data with one more row, empty and with a canary; an adversary picks the worst."""
    if isinstance(data, Ratings):
        return tuple(
            _user(data, row, how) for how, row in _patterns(data.n_items, seed).items()
        )
    mean = np.asarray(data.X.mean(axis=0), np.float64).ravel()
    rarest = np.zeros_like(mean)
    rarest[np.argmin(mean)] = 1.0
    return _sample(data, mean, "like the overall mean"), _sample(
        data, rarest, "of only the rarest"
    )


def _patterns(columns: int, seed: int) -> dict[str, Array]:
    """Rows (n_items,) from -1, the lowest rating, to 1, the highest."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(3,)))
    half = np.where(rng.permutation(columns) % 2, 1.0, -1.0)
    return {
        "everything highest and lowest alternately": np.where(
            np.arange(columns) % 2, 1.0, -1.0
        ),
        "everything a quarter of the range from the middle": half / 2,
        "everything highest": np.ones(columns),
    }


def _user(data: Ratings, row: Array, how: str) -> Pair:
    keys = data.user_keys
    absent = replace(
        data,
        n_users=data.n_users + 1,
        user_keys=None if keys is None else np.append(keys, np.uint64(0)),
    )
    values = data.shape.mid_range + data.shape.half_range * row
    present = replace(
        absent,
        users=np.append(data.users, np.full(len(row), data.n_users, data.users.dtype)),
        items=np.append(data.items, np.arange(len(row), dtype=data.items.dtype)),
        values=np.append(data.values, values.astype(data.values.dtype)),
        order=None
        if data.order is None
        else np.append(data.order, np.zeros(len(row), np.int64)),
    )
    return Pair(f"one more user in {data.name}, who rates {how}", absent, present)


def _sample(data: Samples, row: Array, how: str) -> Pair:
    """Add a row of norm 1, the largest that an algorithm uses."""
    room = data.rows(np.append(np.arange(len(data)), 0))
    row = (row / np.linalg.norm(row)).astype(np.float32)[None]
    absent, present = (
        replace(room, X=_with_row(data.X, last)) for last in (np.zeros_like(row), row)
    )
    return Pair(f"one more {data.unit} in {data.name}, {how}", absent, present)


def _with_row(X: Any, row: Array) -> Any:
    if is_sparse(X):
        return csr_array(vstack([X, csr_array(row)]))
    return np.vstack([X, row])


def _lens(pair: Pair, seed: int) -> Array:
    """Directions (k, n_columns) of length 1: the canary's, then random ones."""
    present, absent = (_column_sums(side) for side in (pair.present, pair.absent))
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(4,)))
    rows = rng.standard_normal((DIRECTIONS, len(present)))
    rows[0] = present - absent
    return np.asarray(
        rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    )


def _column_sums(data: Data) -> Array:
    """The units' sums of values minus mid-range, (n_columns,)."""
    if isinstance(data, Ratings):
        return data.item_sums(data.values - data.shape.mid_range)
    return np.asarray(data.X.sum(axis=0), np.float64).ravel()
