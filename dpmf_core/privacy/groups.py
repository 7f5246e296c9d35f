"""What releases cost somebody who has several units in the data: several documents, images or
ratings.
"""

from dataclasses import replace

from dpmf_core.privacy.accounting import epsilon
from dpmf_core.privacy.events import Event, Repeat, Sequence, normal_form
from dpmf_core.privacy.mechanisms import (
    AdditiveNoise,
    Mechanism,
    PosteriorSample,
    Relation,
    UnsupportedEvent,
)


def of_group(event: Event, size: int) -> Event:
    """The same releases as `size` units together undergo them, added, removed or replaced at once.

    Each unit moves a statistic by at most its sensitivity whatever was released before, so all of
    them by at most `size` times as much: noise of the same scale is `size` times smaller beside
    that. A density that one unit changes by e^(1/z) at most is changed by e^(size/z) at most.
    Raises UnsupportedEvent where that does not follow: a name that none of them brings alone may
    pass a threshold when they all bring it.
    """
    if not size >= 1:
        raise ValueError(f"A group has at least 1 unit. Got {size}.")
    if size == 1:
        return event
    if other := [
        leaf
        for leaf, _ in normal_form(event)
        if leaf.failure or not isinstance(leaf, AdditiveNoise | PosteriorSample)
    ]:
        raise UnsupportedEvent(
            f"What a {other[0].mechanism} costs several units together is not known."
        )
    return Sequence(
        tuple(Repeat(_of_group(leaf, size), count) for leaf, count in normal_form(event))
    )


def _of_group(leaf: Mechanism, size: int) -> Mechanism:
    """Noise of the same scale on a statistic that moves `size` times as far."""
    return replace(
        leaf, noise_multiplier=leaf.noise_multiplier / size, sensitivity=leaf.sensitivity * size
    )


def group_epsilon(
    event: Event, delta: float, relation: Relation = Relation.ADD_REMOVE, size: int = 1
) -> float:
    """The epsilon at delta for a person whose `size` units are added, removed or replaced
    together; exact for Gaussian ledgers, where mu grows `size`-fold.
    """
    return epsilon(of_group(event, size), delta, relation)
