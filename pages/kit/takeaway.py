"""What a sweep leaves to take home: tables, a script that does it again, a link."""

from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from dpmf_core.cli import show as words
from dpmf_core.experiment import Run
from dpmf_core.store import to_json
from dpmf_core.sweeps import rows
from pages.kit import said
from pages.kit.asked import Asked
from pages.kit.swept import Finished

AGAIN = '''"""{title}, again: a line of CSV for every run. Needs dpmf_core and datasets on the path."""

import pandas as pd

from dpmf_core.experiment import run
{imports}

{points}
runs = {{}}
for point in points:
    if point.key not in runs:
        runs[point.key] = run(point.spec)
print(pd.DataFrame(rows(points, runs)).to_csv(index=False))
'''


def script(question: Asked) -> str:
    """A Python program that makes every run of the question once more."""
    if question.preset:
        imports = "from dpmf_core.presets import PRESETS\nfrom dpmf_core.sweeps import rows"
        return AGAIN.format(title=question.preset.source, imports=imports, points=f'points = PRESETS["{question.preset.id}"].points()')
    fields = question.sweep.model_dump(mode="json") if question.sweep else {}
    imports = "from dpmf_core.sweeps import Sweep, rows"
    return AGAIN.format(title="A trade-off", imports=imports, points=f"points = Sweep.model_validate({fields!r}).points()")


def link() -> str:
    """This page as it stands, for whoever opens it."""
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(dict(st.query_params))}"


def single(main: Run) -> None:
    """One run's downloads, its script, the share link."""
    st.header("Take it away", anchor=False)
    record = main.export()
    again = words.script(record)
    left, middle, right = st.columns(3)
    left.download_button("The run as JSON", to_json(record, indent=1), f"{main.name}.json", "application/json", width="stretch")
    middle.download_button("The script", again, f"{main.name}.py", "text/x-python", width="stretch")
    with right.popover("Share link", width="stretch"):
        st.code(link(), language=None, wrap_lines=True)
        st.caption("Holds data set, algorithm, ε, δ and seed. Whoever opens it sees this result.")
    with st.expander("The script"):
        st.code(again, language="python")


def draw(question: Asked, finished: Finished) -> None:
    """Downloads, the script, the share link."""
    st.header("Take it away", anchor=False)
    first, second, third, fourth = st.columns(4)
    done = [point for point in question.points if point.key in finished]
    first.download_button(
        "Runs as CSV", lambda: said.csv_of(pd.DataFrame(rows(done, finished))), "trade-off.csv", "text/csv", width="stretch", key="tradeoff.csv"
    )
    second.download_button(
        "Runs as JSON", lambda: to_json([finished[key].export() for key in dict.fromkeys(point.key for point in done)]), "trade-off.json", "application/json",
        width="stretch", key="tradeoff.json",
    )  # fmt: skip
    if any(not finished[point.key].record["public"] for point in done):
        st.caption("Your data are private: the CSV and the JSON hold settings and ledgers, and no errors, which are computed on raw data without noise.")
    text = script(question)
    third.download_button("Script", text, "trade-off.py", "text/x-python", width="stretch", key="tradeoff.script")
    with fourth.popover("Share link", width="stretch"):
        st.code(link(), language=None, wrap_lines=True)
        st.caption("Holds the data set, δ, the seed and everything that is compared.")
    if question.preset:
        st.caption("At full size, from the command line; what is cut goes on:")
        st.code(f"python -m dpmf_core sweep --preset {question.preset.id} --out {question.preset.id}.csv", language="sh")
