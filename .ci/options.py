"""The options of `fit`, `sweep` and `load` as types: `python .ci/options.py [--check]`.

It writes dpmf_core/api/options.py from the facts of data, the parameters of a run and those of the
algorithms. Editors and mypy read that file. With --check it only compares, and the exit code is 1
if the file is not up to date.
"""

import subprocess
import sys
import textwrap
import typing
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from dpmf_core.algorithms import REGISTRY  # noqa: E402
from dpmf_core.data.facts import FACTS, SAMPLE_FACTS, Fact  # noqa: E402
from dpmf_core.runs.specification import PARAMETERS  # noqa: E402

FILE = ROOT / "dpmf_core" / "api" / "options.py"
# parameters that functions name themselves
NAMED_FACTS = {"bounds", "outside", "missing"}
NAMED = {
    "dataset",
    "algorithm",
    "epsilon",
    "delta",
    "split",
    "seed",
    "relation",
    "noise",
}
HEAD = '''"""The options of functions. Made by `python .ci/options.py`: change what it reads.

Facts of data are those of `dpmf_core.data.facts`, parameters of a run those of `RunSpec`, and the
others are parameters of algorithms. An algorithm in another package has its own: give them as
`parameters={"name": value}`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypedDict

import pandas as pd
'''
# parameters of algorithms; the first is a parameter of estimators too, which name it themselves
OWN_NAME = ("n_components",)
OTHERS = sorted(
    {
        name
        for model in REGISTRY.values()
        for name in model.model_fields
        if name not in OWN_NAME
    }
)
WORDS = "What `fit` takes in addition to its named parameters."
Rows = Iterable[tuple[str, str, str]]  # name, type, words


def source() -> str:
    """The whole module."""
    of_tables = {name: fact for name, fact in FACTS.items() if name not in SAMPLE_FACTS}
    parts = [
        HEAD,
        *_class(
            "TableOptions",
            "TypedDict",
            "Facts of a file of ratings.",
            _facts(of_tables),
        ),
        *_class(
            "FactOptions", "TableOptions", "Facts of any file.", _facts(SAMPLE_FACTS)
        ),
        *_class(
            "SweepOptions",
            "FactOptions",
            "How data are prepared and split.",
            _parameters(),
        ),
        *_class(
            "AlgorithmOptions",
            "TypedDict",
            "Parameters of algorithms.",
            _of_algorithms(OTHERS),
        ),
        *_class(
            "RunOptions",
            "SweepOptions, AlgorithmOptions",
            WORDS,
            _of_algorithms(OWN_NAME),
        ),
    ]
    command = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--stdin-filename",
        str(FILE),
        "-",
    ]
    text = "\n".join(parts) + "\n"
    return subprocess.run(
        command, input=text, capture_output=True, text=True, check=True
    ).stdout


def _class(name: str, base: str, words: str, rows: Rows) -> Iterator[str]:
    yield f'\n\nclass {name}({base}, total=False):\n    """{words}"""\n'
    for option, kind, meaning in rows:
        yield f"    {option}: {kind}"
        yield textwrap.fill(
            f'"""{meaning}"""', 96, initial_indent="    ", subsequent_indent="    "
        )


def _facts(facts: dict[str, Fact]) -> Rows:
    for name, fact in facts.items():
        if name not in NAMED_FACTS:
            if fact.metavar.endswith("FILE"):
                kind = "str | Path"
            else:
                kind = type_text(fact.kind)
            yield name, kind, fact.help.rstrip(".")


def _parameters() -> Rows:
    for name, (_, _, info) in PARAMETERS.items():
        if name not in NAMED:
            kind = type_text(info.annotation)
            if name == "item_features":
                kind = f"{kind} | pd.DataFrame"
            yield name, kind, str(info.description or info.title)


def _of_algorithms(names: Iterable[str]) -> Rows:
    """These parameters of algorithms, with the types and words that the algorithms give them."""
    kinds: dict[str, dict[str, None]] = {}
    words: dict[str, dict[str, list[str]]] = {}
    for algorithm, model in REGISTRY.items():
        for name, info in model.model_fields.items():
            kinds.setdefault(name, {})[type_text(info.annotation)] = None
            meaning = str(info.description or info.title)
            words.setdefault(name, {}).setdefault(meaning, []).append(algorithm)
    for name in names:
        yield name, " | ".join(kinds[name]), _meanings(words[name])


def _meanings(by_words: dict[str, list[str]]) -> str:
    """The meaning for each algorithm; the algorithms alone where meanings are many."""
    if len(by_words) == 1:
        ((meaning, algorithms),) = by_words.items()
        return f"{meaning} ({', '.join(algorithms)})"
    everyone = [
        algorithm for algorithms in by_words.values() for algorithm in algorithms
    ]
    return f"See `algorithms`: of {', '.join(everyone)}"


def type_text(kind: Any) -> str:
    """A type as Python source, without its rules."""
    origin = get_origin(kind)
    parts = get_args(kind)
    if origin is Annotated:
        return type_text(parts[0])
    if origin in (typing.Union, UnionType):
        return " | ".join(dict.fromkeys(map(type_text, parts)))
    if origin is tuple and parts[-1] is Ellipsis:
        return f"{type_text(parts[0])} | Sequence[{type_text(parts[0])}]"
    if origin is tuple:
        return f"tuple[{', '.join(map(type_text, parts))}]"
    if origin is Literal or (isinstance(kind, type) and issubclass(kind, StrEnum)):
        choices = parts or [str(member) for member in kind]
        return f"Literal[{', '.join(map(repr, choices))}]"
    if kind is NoneType:
        return "None"
    return str(kind.__name__)


def main() -> int:
    text = source()
    if "--check" not in sys.argv[1:]:
        FILE.write_text(text, "utf-8")
        return 0
    if FILE.read_text("utf-8") == text:
        return 0
    print(f"{FILE.relative_to(ROOT)} is not up to date. Run: python .ci/options.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
