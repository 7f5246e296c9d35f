"""What a person declares of a table of ratings."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dpmf_core.data.column_names import ROLE_NAMES
from dpmf_core.data.facts import Facts, value
from dpmf_core.data.report import DateOrder, Outside


@dataclass(frozen=True)
class Declared:
    """Public facts about a table of ratings, which no row may change.

    Attributes
    ----------
    bounds : tuple of float or None
        The lowest and highest possible rating.
    columns : mapping of str to str
        The column of each role, where the detection would choose another; "" for none.
    n_users, n_items : int or None
        Sizes; by default the file's own counts, which the ratings then assume public.
    dates : {"dmy", "mdy"} or None
        The order of day and month in dates; by default the first rows tell.
    outside : {"leave-out", "clamp", "refuse"} or None
        What to do with a rating outside the bounds. By default its row is left out, and a table
        with more than a tenth of such ratings is refused.
    missing : tuple of float
        Values that mean "not rated".
    leave : tuple of str
        Columns of a wide table that hold no ratings.
    """

    bounds: tuple[float, float] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    n_users: int | None = None
    n_items: int | None = None
    dates: DateOrder | None = None
    outside: Outside | None = None
    missing: tuple[float, ...] = ()
    leave: tuple[str, ...] = ()

    @classmethod
    def of(cls, facts: Facts) -> "Declared":
        """Read the facts of an address. Raises BadInput."""
        return cls(
            bounds=value(facts, "bounds"),
            columns={role: facts[role] for role in ROLE_NAMES if role in facts},
            n_users=value(facts, "users"),
            n_items=value(facts, "items"),
            dates=value(facts, "dates"),
            outside=value(facts, "outside"),
            missing=value(facts, "missing", ()),
            leave=value(facts, "leave", ()),
        )
