"""What a sweep leaves to take home: tables, a notebook that runs it again, a link."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.errors import BadInput
from dpmf_core.jobs.engine import engine
from dpmf_core.runs import noisy_errors
from dpmf_core.runs.record import Run
from dpmf_core.runs.reports import notebook_of_sweep
from dpmf_core.runs.spending import account_of
from dpmf_core.runs.store import to_json
from dpmf_core.runs.sweep import rows
from pages.kit import odometer, safe_text
from pages.kit.exports import address
from pages.kit.sweep_frames import Runs
from pages.tradeoff.controls import Question

NOISY = "tradeoff.noisy.errors"  # (run, epsilon of the error): the error
REFUSAL = "tradeoff.noisy.refused"


def notebook(question: Question) -> str:
    """A notebook that makes every run again, with a table and a chart."""
    metric = question.metric
    if question.figure:
        return notebook_of_sweep(question.figure.source, {}, question.figure.id, metric)
    fields = question.sweep.model_dump(mode="json") if question.sweep else {}
    return notebook_of_sweep("A trade-off", fields, "", metric)


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
            "Release each run's held-out error, clipped and by person, with noise. The CSV then"
            " holds it as noisy_rmse."
        )
        left, right = st.columns([1, 2], vertical_alignment="bottom")
        key = "tradeoff.noisy.epsilon"
        epsilon = left.number_input("ε of each error", 0.001, 100.0, 0.1, format="%g", key=key)
        missing = {key: run for key, run in fitting.items() if (run.key, epsilon) not in errors}
        if missing:
            charges = [noisy_errors.charge(run, epsilon) for run in missing.values()]
            price = odometer.price_text(account, charges)
            right.button(
                f"Release {len(missing)} errors: {price}",
                key="tradeoff.noisy",
                width="stretch",
                on_click=_release,
                args=(missing, epsilon),
            )
        if refusal := st.session_state.pop(REFUSAL, None):
            safe_text.error(refusal, "")
    known = {key: errors.get((run.key, epsilon)) for key, run in fitting.items()}
    return {key: error for key, error in known.items() if error is not None}, epsilon


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
    """Downloads, the notebook, the share link."""
    st.header("Take it away", anchor=False)
    first, second, third, fourth = st.columns(4)
    finished = [point for point in question.points if point.key in runs]
    private = {it.key: runs[it.key] for it in finished if not runs[it.key].record.public}
    noisy, epsilon = _errors_with_noise(private)

    def csv() -> str:
        return safe_text.to_csv(pd.DataFrame(rows(finished, runs, noisy, epsilon)))

    def json() -> str:
        return to_json([runs[key].export() for key in dict.fromkeys(it.key for it in finished)])

    wide: dict[str, Any] = {"width": "stretch"}
    first.download_button(
        "Runs as CSV", csv, "trade-off.csv", "text/csv", key="tradeoff.csv", **wide
    )
    second.download_button(
        "Runs as JSON", json, "trade-off.json", "application/json", key="tradeoff.json", **wide
    )
    if private:
        st.caption(
            "Your data are private: the files hold settings and ledgers, and no errors"
            f"{' but those released with noise' * bool(noisy)}. Errors are computed on raw data."
        )
    third.download_button(
        "Notebook",
        notebook(question),
        "trade-off.ipynb",
        "application/x-ipynb+json",
        key="tradeoff.notebook",
        **wide,
    )
    with fourth.popover("Share link", **wide):
        st.code(address(), language=None, wrap_lines=True)
        st.caption("Holds the data set, δ, the seed and everything that is compared.")
    if question.figure:
        st.caption("At full size, from the command line. It continues where it was interrupted:")
        name = question.figure.id
        command = f"python -m dpmf_core sweep --preset {name} --out {name}.csv"
        st.code(command, language="sh")
