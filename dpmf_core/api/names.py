"""The names and types that arguments take, as editors complete them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

RelationName = Literal["add-remove", "replace-one"]
NoiseName = Literal["continuous", "discrete", "none"]
SplitName = Literal["random", "per-user", "time", "users", "window", "none"]
# a mapping also has the split's own parameters, such as {"kind": "users", "fold_in": 0.5}
SplitChoice = SplitName | Mapping[str, Any] | None
ColumnNames = Mapping[str, str] | None  # by their roles
Missing = float | Sequence[float] | None  # the values that mean "not rated"
