"""Where our factorisation without retention departs from Vallet et al. 2014."""

from collections.abc import Mapping

from dpmf_core.papers.deviations import Deviation

DEVIATIONS: Mapping[str, tuple[Deviation, ...]] = {
    "no-retention": (
        Deviation(
            place="section 3.1, update rules 3 and 4",
            paper="p + 2λ[(r − p q) q − γ p], and the same for q",
            ours="ends a step where its rating is met, and a pull at 0; not with as_printed",
            why="steps at large rates would overshoot until the factors are infinite",
            cost="step-length",
        ),
        Deviation(
            place="section 3.3",
            paper="predictions b_u + p q, whatever their size",
            ours="clips predictions to the rating range; not with as_printed",
            why="no rating is outside the range",
            cost="clipping",
        ),
        Deviation(
            place="section 4.1, Online",
            paper="“an incremental update of Q by iterating over all the stored ratings”",
            ours="fits vectors again after each of ten batches of new ratings, not after each"
            " rating",
            why="a vector is fitted from its start each time, so that only its last fit counts",
            cost="batches",
        ),
    ),
}
