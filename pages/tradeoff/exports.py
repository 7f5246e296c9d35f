"""What a sweep leaves to take home: tables, a script that does it again, a link."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dpmf_core.errors import BadInput
from dpmf_core.jobs.engine import engine
from dpmf_core.runs import noisy_errors, notebooks
from dpmf_core.runs.record import Run
from dpmf_core.runs.spending import account_of
from dpmf_core.runs.store import to_json
from dpmf_core.runs.sweep import rows
from pages.kit import odometer, safe_text
from pages.kit.exports import address
from pages.kit.sweep_frames import Runs
from pages.tradeoff.controls import Question

NOISY = "tradeoff.noisy.errors"  # (run, epsilon of the error): the error
REFUSAL = "tradeoff.noisy.refused"
PRIVATE = (
    "Your data are private: the CSV and the JSON hold settings and ledgers, and no errors, which"
    " are computed on raw data without noise."
)
PRIVATE_WITH_NOISE = (
    "Your data are private: the CSV and the JSON hold settings and ledgers, and errors only as far"
    " as they were released with noise."
)

AGAIN = '''"""{title}, again: a line of CSV for every run."""

import pandas as pd

from dpmf_core.runs.execution import run
{points}

runs = {{}}
for point in points:
    if point.key not in runs:
        runs[point.key] = run(point.spec)
print(pd.DataFrame(rows(points, runs)).to_csv(index=False))
'''


def script(question: Question) -> str:
    """A Python program that makes every run of the question once more."""
    return AGAIN.format(title=_title(question), points=_points(question))


def notebook(question: Question) -> str:
    """As `script`, with a table and a chart."""
    return notebooks.of_points(_title(question), _points(question), question.metric)


def _title(question: Question) -> str:
    return question.figure.source if question.figure else "A trade-off"


def _points(question: Question) -> str:
    """Code that leaves the question's points, and the function that makes rows of them."""
    if question.figure:
        return (
            "from dpmf_core.papers.registry import FIGURES\n"
            "from dpmf_core.runs.sweep import rows\n\n"
            f'points = FIGURES["{question.figure.id}"].points()'
        )
    fields = question.sweep.model_dump(mode="json") if question.sweep else {}
    return (
        "from dpmf_core.runs.sweep import Sweep, rows\n\n"
        f"points = Sweep.model_validate({fields!r}).points()"
    )


def _errors_with_noise(private: Mapping[str, Run]) -> tuple[dict[str, float], float | None]:
    """Errors of runs on private data that a person asked for with noise, by `Point.key`, and
    the epsilon of each; asked again they cost nothing.
    """
    fitting = {key: run for key, run in private.items() if not noisy_errors.refusal(run)}
    account = account_of(next(iter(fitting.values())).spec.data.id) if fitting else None
    if account is None:
        return {}, None
    errors: dict[tuple[str, float], float] = st.session_state.setdefault(NOISY, {})
    with st.expander("Errors with noise, for the CSV"):
        st.write(
            "Each run's error on held-out ratings, clipped and by user, as a release of its"
            " own. What is released so may leave: the CSV then holds it as noisy_rmse."
        )
        left, right = st.columns([1, 2], vertical_alignment="bottom")
        epsilon = left.number_input(
            "ε of each error", 0.001, 100.0, 0.1, format="%g", key="tradeoff.noisy.epsilon"
        )
        missing = {key: run for key, run in fitting.items() if (run.key, epsilon) not in errors}
        if missing:
            price = odometer.price_text(
                account, [noisy_errors.charge(run, epsilon) for run in missing.values()]
            )
            right.button(
                f"Release {len(missing)} errors: {price}",
                key="tradeoff.noisy",
                width="stretch",
                on_click=_release,
                args=(missing, epsilon),
            )
        if refusal := st.session_state.pop(REFUSAL, None):
            safe_text.error(refusal, "")
    return {
        key: errors[run.key, epsilon]
        for key, run in fitting.items()
        if (run.key, epsilon) in errors
    }, epsilon


def _whole(run: Run) -> Run:
    """With its arrays, of which the page holds none.

    Raises BadInput where they are gone: training again would draw, and cost, anew.
    """
    if not engine().had(run.spec):
        raise BadInput(
            "This run is no longer held here with its factors. Run it again, as a new release,"
            " and then release its error."
        )
    full_run: Run = engine().submit(run.spec).result(60)
    return full_run


def _release(runs: Mapping[str, Run], epsilon: float) -> None:
    """As a callback: before the page is drawn."""
    errors = st.session_state.setdefault(NOISY, {})
    try:
        for key, run in runs.items():
            errors[run.key, epsilon] = noisy_errors.release({key: _whole(run)}, epsilon)[key]
    except BadInput as error:
        st.session_state[REFUSAL] = error.args[0]


def draw(question: Question, runs: Runs) -> None:
    """Downloads, the script, the share link."""
    st.header("Take it away", anchor=False)
    first, second, third, fourth, fifth = st.columns(5)
    finished_points = [point for point in question.points if point.key in runs]
    private = {
        point.key: runs[point.key] for point in finished_points if not runs[point.key].record.public
    }
    noisy, epsilon = _errors_with_noise(private)
    first.download_button(
        "Runs as CSV",
        lambda: safe_text.to_csv(pd.DataFrame(rows(finished_points, runs, noisy, epsilon))),
        "trade-off.csv",
        "text/csv",
        width="stretch",
        key="tradeoff.csv",
    )
    second.download_button(
        "Runs as JSON",
        lambda: to_json(
            [runs[key].export() for key in dict.fromkeys(point.key for point in finished_points)]
        ),
        "trade-off.json",
        "application/json",
        width="stretch",
        key="tradeoff.json",
    )
    if private:
        st.caption(PRIVATE_WITH_NOISE if noisy else PRIVATE)
    text = script(question)
    third.download_button(
        "Script", text, "trade-off.py", "text/x-python", width="stretch", key="tradeoff.script"
    )
    fourth.download_button(
        "Notebook",
        notebook(question),
        "trade-off.ipynb",
        "application/x-ipynb+json",
        width="stretch",
        key="tradeoff.notebook",
    )
    with fifth.popover("Share link", width="stretch"):
        st.code(address(), language=None, wrap_lines=True)
        st.caption("Holds the data set, δ, the seed and everything that is compared.")
    if question.figure:
        st.caption("At full size, from the command line; what is cut goes on:")
        st.code(
            f"python -m dpmf_core sweep --preset {question.figure.id} --out"
            f" {question.figure.id}.csv",
            language="sh",
        )
