"""The signatures that notebooks and `help` show: every option by its name."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from dpmf_core.data.facts import FACTS
from dpmf_core.runs.specification import PARAMETERS

Function = TypeVar("Function", bound=Callable[..., Any])


def with_options(*left_out: str) -> Callable[[Function], Function]:
    """Show the facts of data and the parameters of a run in the signature, with their types.

    Editors and mypy read the same from `options`.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        *own, rest = signature.parameters.values()
        for name, fact in FACTS.items():
            if name not in signature.parameters:
                kind = inspect.Parameter.KEYWORD_ONLY
                own.append(
                    inspect.Parameter(name, kind, default=None, annotation=fact.kind)
                )
        for name, (_, _, info) in PARAMETERS.items():
            if name not in signature.parameters and name not in ("dataset", *left_out):
                default = None if info.is_required() else info.default
                kind = inspect.Parameter.KEYWORD_ONLY
                annotation = info.annotation
                own.append(
                    inspect.Parameter(
                        name, kind, default=default, annotation=annotation
                    )
                )
        function.__signature__ = signature.replace(parameters=[*own, rest])  # type: ignore[attr-defined]
        return function

    return decorate
