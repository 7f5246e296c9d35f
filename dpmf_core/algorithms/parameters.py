"""How an algorithm declares its parameters."""

from typing import Any

from pydantic import Field

# the least positive parameter and the least share of a budget; contract tests start from these
LEAST = 1e-6
LEAST_SHARE = 1e-3


def parameter(
    default: Any,
    title: str | None,
    description: str,
    within: tuple[float, float] | None = None,
) -> Any:
    """A parameter with the words of its widget.

    Parameters
    ----------
    default
        The default value.
    title : str or None
        None for the parameter's name.
    description : str
    within : tuple of float, optional
        The lowest and the highest value.
    """
    low, high = within or (None, None)
    return Field(
        default,
        ge=low,
        le=high,
        title=title,
        description=description,
    )


def choice(default: Any, description: str) -> Any:
    """A parameter that is on or off or one of several words, titled by its name."""
    return parameter(default, None, description)


def share_field(default: float, title: str, description: str) -> Any:
    """A parameter that is a share of a budget, neither nothing nor all of it."""
    return parameter(default, title, description, (LEAST_SHARE, 1 - LEAST_SHARE))


# bounds of predictions that are not clipped to the range of the ratings
UNCLIPPED = (
    -1e9,
    1e9,
)
# for methods by stochastic gradients
AS_PRINTED_WORDS = (
    "the source's equations alone: steps of full length, where otherwise a step ends where its"
    " rating is met and a pull at 0; ratings in their own unit; predictions outside the range of"
    " the ratings stay there"
)
AS_PRINTED: Any = choice(False, AS_PRINTED_WORDS)
