"""Commands that a signal reaches at one moment, whatever the machine does."""

import sys
from collections.abc import Sequence

CODE = """
import importlib, os, sys
_, function, count, signal, *words = sys.argv
module, _, path = function.partition(":")
owner = importlib.import_module(module)
*outer, name = path.split(".")
for part in outer:
    owner = getattr(owner, part)
original, calls = getattr(owner, name), []

def counted(*arguments, **keywords):
    result = original(*arguments, **keywords)
    calls.append(None)
    if len(calls) == int(count):
        os.kill(os.getpid(), int(signal))
    return result

setattr(owner, name, counted)
sys.argv = ["dpmf", *words]
from dpmf import start
sys.exit(start())
"""


def after(function: str, calls: int, signal: int, words: Sequence[str]) -> list[str]:
    """A dpmf command that signals itself after so many calls of `module:Class.name`."""
    return [sys.executable, "-c", CODE, function, str(calls), str(int(signal)), *words]
