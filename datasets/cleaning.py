"""Rows of a table to arrays of ratings: numbers parsed, ids numbered, and every row that is bad counted with its place."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from datasets import dates
from datasets.report import CLAMPED, DUPLICATE, INFINITE, KINDS, LINES_SHOWN, MISSING, NO_TIME, NOT_A_NUMBER, RAGGED, Problem, Tally
from datasets.tables import Table

NOTHING = ("", "na", "n/a", "null", "none")  # how a rating that is not there is written
THOUSANDS = r"^[+-]?\d{1,3}\.\d{3}$"  # or a number with three decimals
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The usable rows of a table (n_rows,), ids numbered from 0 in the order of their labels, and what was wrong with the others."""

    users: npt.NDArray[np.int32]
    items: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]
    order: npt.NDArray[np.int64] | None
    user_labels: tuple[str, ...]
    item_labels: tuple[str, ...]
    titles: tuple[str, ...]
    read: int
    problems: tuple[Problem, ...]
    assumed: tuple[str, ...] = ()  # how what can be read in two ways was read, in sentences
    assumptions: tuple[str, ...] = ()  # what that takes as public


class _Labels:
    """Numbers labels in the order of their first use; `sorted` renumbers, so that the order of the rows does not matter."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def encode(self, column: pa.Array) -> npt.NDArray[np.int32]:
        encoded = column.dictionary_encode()
        codes = [self._codes.setdefault(label, len(self._codes)) for label in encoded.dictionary.to_pylist()]
        return np.array(codes, np.int32)[encoded.indices.to_numpy(zero_copy_only=False)] if codes else np.empty(0, np.int32)

    def sorted(self) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
        """The labels, whole numbers by size, others by alphabet; and each code's place among them."""
        whole = all(label.isdecimal() and len(label) < 19 for label in self._codes)
        labels = sorted(self._codes, key=(lambda label: (int(label), label)) if whole else None)
        place = np.empty(len(labels), np.int32)
        place[[self._codes[label] for label in labels]] = np.arange(len(labels))
        return tuple(labels), place


@dataclass
class _Gathered:
    """What has been read so far."""

    tally: Tally = field(default_factory=Tally)
    users: _Labels = field(default_factory=_Labels)
    items: _Labels = field(default_factory=_Labels)
    titles: dict[int, str] = field(default_factory=dict)
    parts: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.float32], npt.NDArray[np.int32]]] = field(default_factory=list)
    times: dates.Column | None = None
    commas: int = 0
    thousands: int = 0
    at: int = 0
    read: int = 0


def collect(table: Table, chosen: Mapping[str, int], bounds: tuple[float, float], order: dates.Order | None = None) -> Rows:
    """Reads a table batch by batch. Ids are text, so that "007" and "7" stay two; values are clamped to the declared bounds.

    order: whether dates of three numbers have the day or the month first, where it is declared.
    """
    got = _Gathered(times=dates.Column(order) if "time" in chosen else None)
    for batch in table.batches(list(chosen.values())):
        _take(got, dict(zip(chosen, batch, strict=True)), bounds, decimal_comma=table.decimal_comma)
    return _finish(got, table)


def _take(got: _Gathered, batch: Mapping[str, pa.Array], bounds: tuple[float, float], *, decimal_comma: bool) -> None:
    user, item = _text(batch["user"]), _text(batch["item"])
    values, absent = _numbers(got, batch["rating"], decimal_comma=decimal_comma)
    nameless = [pc.equal(ids, "").to_numpy(zero_copy_only=False) for ids in (user, item)]
    row = np.arange(got.at, got.at + len(values))
    got.at += len(values)
    blank = nameless[0] & nameless[1] & absent
    missing = (nameless[0] | nameless[1] | absent) & ~blank
    infinite, text = np.isinf(values) & ~missing & ~blank, np.isnan(values) & ~missing & ~blank
    got.read += int((~blank).sum())
    for kind, where in ((MISSING, missing), (NOT_A_NUMBER, text), (INFINITE, infinite)):
        _note(got.tally, kind, where, row, batch)
    named = ~(nameless[0] | nameless[1])
    good = named & np.isfinite(values)
    _note(got.tally, CLAMPED, good & ((values < bounds[0]) | (values > bounds[1])), row, batch)
    # Ids are numbered before bad ratings go: a user all of whose ratings are bad is still a user.
    keep = good[named]
    users, items = got.users.encode(user.filter(pa.array(named))), got.items.encode(item.filter(pa.array(named)))
    got.parts.append((users[keep], items[keep], values[good].clip(*bounds).astype(np.float32), row[good].astype(np.int32)))
    if "title" in batch:
        _titles(got, items[keep], batch["title"].filter(pa.array(good)))
    if got.times is not None:
        got.times.take(batch["time"].filter(pa.array(good)))


def _note(tally: Tally, kind: str, where: Flags, row: npt.NDArray[np.int64], batch: Mapping[str, pa.Array]) -> None:
    if where.any():
        first = int(where.argmax())
        example = batch["rating"][first].as_py() if kind != MISSING else ",".join(str(batch[role][first].as_py() or "") for role in ("user", "item", "rating"))
        tally.add(kind, row[where], example)


def _text(column: pa.Array) -> pa.Array:
    return pc.utf8_trim_whitespace(pc.fill_null(column.cast(pa.string()), ""))


def _numbers(got: _Gathered, column: pa.Array, *, decimal_comma: bool) -> tuple[npt.NDArray[np.float64], Flags]:
    """Values, NaN where there is no number; and where nothing is written at all. Of a comma and a point the last is the decimal sign."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        return np.array(column.cast(pa.float64()).to_numpy(zero_copy_only=False)), np.asarray(column.is_null().to_numpy(zero_copy_only=False), np.bool_)
    text = _text(column)
    if decimal_comma:
        got.thousands += pc.sum(pc.match_substring_regex(text, THOUSANDS)).as_py() or 0
        if commas := pc.sum(pc.match_substring(text, ",")).as_py():
            got.commas += commas
            both = pc.match_substring_regex(text, r"\..*,")
            text = pc.replace_substring(pc.if_else(both, pc.replace_substring(text, ".", ""), text), ",", ".")
    try:
        return np.array(text.cast(pa.float64()).to_numpy(zero_copy_only=False)), np.zeros(len(text), np.bool_)
    except pa.ArrowInvalid:  # some value is no number: look at each
        absent = pc.is_in(pc.utf8_lower(text), pa.array(NOTHING)).to_numpy(zero_copy_only=False)
        values = pd.to_numeric(pd.Series(text.to_numpy(zero_copy_only=False)), errors="coerce").to_numpy(np.float64)
        return values, absent


def _titles(got: _Gathered, items: npt.NDArray[np.int32], titles: pa.Array) -> None:
    codes, first = np.unique(items, return_index=True)
    for code, title in zip(codes.tolist(), titles.take(pa.array(first)).to_pylist(), strict=True):
        got.titles.setdefault(code, str(title or "").strip())


def _order(got: _Gathered, rows: npt.NDArray[np.int64]) -> dates.Found:
    """The order of the ratings; one time that cannot be read ends the use of all."""
    if got.times is None:
        return dates.Found(None, np.empty(0, np.bool_))
    found = got.times.found()
    got.tally.add(NO_TIME, rows[found.unread], found.example)
    return found


def _alike(labels: Sequence[str], what: str) -> list[str]:
    """Says so where ids are one number written in two ways."""
    plain = [label for label in labels if label.isdecimal() and (len(label) == 1 or label[0] != "0")]
    if len(plain) == len(labels):
        return []
    seen: dict[float, str] = {float(label): label for label in plain if len(label) < 16}
    pairs = []
    for label in labels:
        if len(label) < 16 and re.fullmatch(r"[+-]?\d+([.,]0*)?", label) and (first := seen.setdefault(float(label.replace(",", ".")), label)) != label:
            pairs.append(f"{first} and {label}")
    if not pairs:
        return []
    return [f"{len(pairs):,} {what} are numbers written in two ways, such as 1, 1.0 and 01. Ids are text: they were taken as different {what}."]


def _signs(got: _Gathered) -> list[str]:
    """What was assumed of points and commas."""
    told = [f"{got.commas:,} ratings have a comma, which was read as the decimal sign: 3,5 is three and a half."] if got.commas else []
    if got.thousands:
        told.append(
            f"{got.thousands:,} ratings are written like 1.234. The point was read as the decimal sign: a little more than one, not more than a thousand."
        )
    return told


def _finish(got: _Gathered, table: Table) -> Rows:
    parts = got.parts or [(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.int32))]
    users, items, values, rows = (np.concatenate(part) for part in zip(*parts, strict=True))
    user_labels, user_place = got.users.sorted()
    item_labels, item_place = got.items.sorted()
    users, items = user_place[users], item_place[items]
    again = pd.Series(users.astype(np.int64) * max(1, len(item_labels)) + items).duplicated().to_numpy()
    if again.any():
        first = int(again.argmax())
        got.tally.add(DUPLICATE, rows[again].astype(np.int64), f"{user_labels[users[first]]},{item_labels[items[first]]}")
    named = {int(item_place[code]): title for code, title in got.titles.items()}
    titles = tuple(named.get(j) or label for j, label in enumerate(item_labels))
    found = _order(got, rows.astype(np.int64))
    assumed = (*table.read_as(), *_signs(got), *([found.words] if found.words else []), *_alike(user_labels, "users"), *_alike(item_labels, "items"))
    ragged = [(number, text) for number, text in table.ragged if text]
    problems = got.tally.problems(table.line)
    if ragged:
        problems.append(Problem(RAGGED, len(ragged), tuple(number for number, _ in ragged[:LINES_SHOWN]), ragged[0][1]))
    return Rows(
        users=users, items=items, values=values, order=found.order, user_labels=user_labels, item_labels=item_labels, titles=titles,
        read=got.read + len(ragged), problems=tuple(sorted(problems, key=lambda problem: KINDS.index(problem.kind))), assumed=assumed,
        assumptions=(*table.assumptions, *([found.assumption] if found.assumption else [])),
    )  # fmt: skip
