"""The size of the project as one table: lines, rooms, arrows, floors, circles, options, commands.

A room is a package or module directly in `dpmf_core`, or `pages` or `datasets`. An arrow is a
room that imports another. A circle is a set of files that import each other, in functions too.
Run: python .ci/size.py [FOLDER]
"""

import sys
from pathlib import Path

import click
import grimp
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
sys.path.insert(0, str(ROOT))
Arrows = set[tuple[str, str]]


def lines(*folders: str) -> int:
    files = {file for folder in folders for file in (ROOT / folder).rglob("*.py")}
    return sum(len(file.read_text("utf-8").splitlines()) for file in files)


def imports() -> Arrows:
    graph = grimp.build_graph("dpmf_core", "dpmf_datasets", "pages", cache_dir=None)
    found = {
        (module, other)
        for module in graph.modules
        for other in graph.find_modules_directly_imported_by(module)
    }
    return {(module, other) for module, other in found if not module.startswith(f"{other}.")}


def circles(arrows: Arrows) -> list[list[str]]:
    names = sorted({name for arrow in arrows for name in arrow})
    at = {name: place for place, name in enumerate(names)}
    rows, columns = ([at[arrow[end]] for arrow in arrows] for end in (0, 1))
    table = coo_array(([1] * len(rows), (rows, columns)), shape=(len(names), len(names)))
    count, member = connected_components(table, connection="strong")
    sets = [[name for name in names if member[at[name]] == number] for number in range(count)]
    return [them for them in sets if len(them) > 1]


def room(module: str) -> str:
    top, _, rest = module.partition(".")
    return rest.partition(".")[0] if top == "dpmf_core" and rest else top


def floors(arrows: Arrows) -> int:
    """The number of rooms on the longest way down."""
    below: dict[str, int] = {}

    def depth(name: str, above: tuple[str, ...] = ()) -> int:
        if name not in below:
            lower = [b for a, b in arrows if a == name and b not in above]
            below[name] = 1 + max((depth(b, (*above, name)) for b in lower), default=0)
        return below[name]

    return max(depth(name) for arrow in arrows for name in arrow)


def main() -> None:
    from dpmf_core.cli import program

    by_file = imports()
    arrows = {(room(a), room(b)) for a, b in by_file if room(a) != room(b)}
    context = click.Context(program)
    fit = program.get_command(context, "fit")
    assert fit is not None
    options = [it for it in fit.params if isinstance(it, click.Option)]
    hidden = sum(it.hidden for it in options)
    rows = {
        "product: lines of dpmf_core, pages, datasets": lines("dpmf_core", "pages", "datasets"),
        "tests: lines": lines("tests"),
        "benchmarks: lines": lines("benchmarks"),
        "rooms": len({name for arrow in arrows for name in arrow}),
        "floors": floors(arrows),
        "arrows": len(arrows),
        "circles of files": len(circles(by_file)),
        "options of fit": len(options) - hidden,
        "options of fit that --param lists": hidden,
        "commands": len(program.list_commands(context)),
    }
    for name, value in rows.items():
        print(f"| {name:45} | {value:>7,} |")
    for them in circles(by_file):
        print("circle:", ", ".join(them))


if __name__ == "__main__":
    main()
