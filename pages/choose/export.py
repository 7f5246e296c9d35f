"""The last step of Choose: train on all ratings, then take away the model, the report, the command.

It exports the answer to the question, or the method that Tune sent here, with the parameters of the
session.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

import dpmf_datasets as datasets
from dpmf_core.jobs.machine import duration
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs import data_access
from dpmf_core.runs.commands import fit_command
from dpmf_core.runs.publishing import saving
from dpmf_core.runs.record import ItemNames, Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.tuning.choosing.finding import MODEL, Finding
from dpmf_core.runs.tuning.choosing.finding_documents import notebook, report
from dpmf_core.teaching.glossary import linked
from dpmf_datasets import session_files
from pages.choose import question_controls
from pages.choose.answer_figures import draw_figure
from pages.choose.question_controls import Inquiry
from pages.kit import sidebar
from pages.kit.base import data_sets, links, safe_text
from pages.kit.base.exports import draw_files
from pages.kit.controls import forms, sidebar_values
from pages.kit.privacy import account_summary, purchases
from pages.kit.running import time_estimate
from pages.kit.running.runs import ask, queue, request_at

PLACE = "export"  # of the training among the session's requests
REQUESTED = "export.requested"  # in the session: the run that the button asked for
PACKED = "export.packed"  # in the session: a trained run and its ZIP file
# in the session: the data set and the method that Tune sent here
FROM_TUNE = "export.tuned"
# in the session and, as `export`, in the address: TUNED or ANSWER
WHICH = "export.which"
# what may be exported: the method that Tune sent here, or the answer to the question
TUNED = "tuned"
ANSWER = "answer"
Find = Callable[[Inquiry], Finding | None]


@dataclass(frozen=True)
class Export:
    """The run that is exported.

    Attributes
    ----------
    run
        The run on all ratings of the session's data.
    entry
        The entry of the data.
    finding
        The answer that the run trains, if it trains one.
    """

    run: RunSpec
    entry: Any
    finding: Finding | None = None

    @property
    def title(self) -> str:
        return f"{self.label} on {self.entry.title}"

    @property
    def label(self) -> str:
        epsilon = self.run.require_budget().epsilon
        return f"{self.run.kind.title} at ε = {budget_text(epsilon)}"

    @property
    def command(self) -> str:
        """The command that trains and saves it anywhere."""
        return fit_command(on_data(self.run, command_path(self.entry)), save=MODEL)


def command_path(entry: Any) -> str:
    """How a command names a data set: an uploaded file by its own name, with its facts."""
    if datasets.is_own(entry.id):
        return session_files.command_path(entry.id)
    return str(entry.id)


def on_data(run: RunSpec, data_id: str) -> RunSpec:
    """The run on another name of its data."""
    return run.model_copy(update={"data": run.data.model_copy(update={"id": data_id})})


# ---- what is exported ----------------------------------------------------------------------------


def send(data_id: str, algorithm: str) -> None:
    """Make this method, with the session's parameters, the next export."""
    st.session_state[FROM_TUNE] = (data_id, algorithm)
    st.session_state[WHICH] = TUNED


def _of_tune(entry: Any) -> Export | None:
    """What Tune sent here, also by the address; None if that is about other data."""
    if FROM_TUNE not in st.session_state and st.query_params.get("export") == TUNED:
        linked_method = sidebar_values.value("algorithm")
        if linked_method != data_sets.BEST:
            send(entry.id, linked_method)
    data_id, method = st.session_state.get(FROM_TUNE, ("", ""))
    if data_id != entry.id:
        return None
    parameters = forms.of_address(method)
    # before another method reads the address
    forms.write_to_address(method, parameters)
    choice = replace(sidebar.choice(), algorithm=method, is_best=False)
    return Export(choice.spec(parameters, split="none"), entry)


def _exports(
    tuned: Export | None, current: Inquiry | None, find: Find
) -> dict[str, Export] | None:
    """What may be exported; None while the answer is computed, with its progress drawn."""
    exports = {}
    if tuned is not None:
        exports[TUNED] = tuned
    if current is None:
        return exports
    finding = find(current)
    if finding is None:
        return None
    if finding.run is None:
        return exports
    answer = Export(on_data(finding.run, current.entry.id), current.entry, finding)
    if tuned is not None and tuned.run == answer.run:
        return {TUNED: answer}
    return exports | {ANSWER: answer}


def draw(find: Find) -> None:
    """Draw the step.

    Parameters
    ----------
    find
        Gives the answer to a question, or draws its progress.
    """
    if question_controls.is_file_missing():
        st.title("There is nothing to export", anchor=False)
        question_controls.draw_missing_file()
        return
    tuned = _of_tune(sidebar_values.chosen_entry())
    # read from the address before it is written
    current = question_controls.current(question_controls.inquiry())
    question_controls.write_to_address()
    exports = _exports(tuned, current, find)
    if exports is None:
        return
    if not exports:
        _draw_nothing(is_asked=current is not None)
        return
    head = st.container()
    which = _draw_choice(exports)
    _write_to_address(which, exports[which])
    export = _draw_training(exports[which])
    with head:
        _draw_head(export, "from Tune" if which == TUNED else "set in this session")
    _draw_command(export)
    _draw_documents(export)


def _draw_nothing(is_asked: bool) -> None:
    if is_asked:
        title = "No method is recommended"
        label = "Back to the answer"
    else:
        title = "There is no answer to export yet"
        label = "Ask the question"
    st.title(title, anchor=False)
    st.write(
        "Ask which method suits your data, or choose a method and its parameters in Tune."
    )
    with st.container(horizontal=True):
        links.to("choose", label)
        links.to("tune", "Tune a method")


def _draw_choice(exports: dict[str, Export]) -> str:
    """Which export a person chose; the one that Tune sent here comes first."""
    if len(exports) == 1:
        return next(iter(exports))
    names = {TUNED: "as tuned", ANSWER: "the answer to your question"}
    first = st.session_state.get(WHICH, TUNED)
    which: str = st.radio(
        "Export",
        exports,
        index=list(exports).index(first),
        format_func=lambda name: f"{exports[name].label}, {names[name]}",
        key=f"{WHICH}.radio",
        horizontal=True,
    )
    st.session_state[WHICH] = which
    return which


def _write_to_address(which: str, export: Export) -> None:
    """Put what a reload needs into the address."""
    if which == TUNED:
        sidebar_values.write_to_address()
    method = export.run.algorithm
    forms.write_to_address(method, export.run.parameters)
    texts = question_controls.address() | {"algorithm": None, "export": which}
    if which == TUNED:
        texts["algorithm"] = method
    links.put_in_address(texts)


def _draw_head(export: Export, origin: str) -> None:
    """Draw the title and the summary. `origin` says where changed parameters come from."""
    finding = export.finding
    if request_at(PLACE).busy:  # the account holds part of the training
        st.title(export.title, anchor=False)
        return
    if finding is None:
        st.title(export.title, anchor=False)
    else:
        st.title(finding.name, anchor=False)
        st.markdown(f"**{safe_text.escape_letters(finding.summary)}**")
    parameters = export.run.parameters
    if parameters:
        words = forms.in_words(export.run.algorithm, parameters)
        st.write(
            f"With parameters {origin}: **{words}**. The others are as recommended."
        )
    elif finding is None:
        st.write("With the recommended parameters.")


# ---- the model -----------------------------------------------------------------------------------


def _request(works: Sequence[RunSpec]) -> None:
    st.session_state[REQUESTED] = works[0]
    purchases.buy(works)


def is_trained(run: RunSpec) -> bool:
    """Whether this session has trained it, so that the account holds it in full."""
    request = request_at(PLACE)
    return request.specs.get("model") == run and "model" in request.results


def _draw_training(export: Export) -> Export:
    """Draw the button, the progress or the trained model; return the export after it."""
    if st.session_state.get(REQUESTED) == export.run:
        st.header("The model", anchor=False)
        results = ask(PLACE, {"model": export.run}, by_button=True)
        if export.finding is not None:
            finding = replace(export.finding, is_trained_on_all=bool(results))
            export = replace(export, finding=finding)
        if results:
            _draw_model(results["model"], export)
    else:
        with st.container(key="export.untrained"):
            st.header("The model", anchor=False)
            _draw_button(export)
    if not export.entry.public:
        waits = request_at(PLACE).busy
        with st.container(key="export.account"):
            account_summary.panel(export.entry, PLACE, awaits=waits)
    return export


def _draw_button(export: Export) -> None:
    seconds = time_estimate.seconds({"model": export.run})
    words = (
        "It learns from every rating, because none is held out, so it has no error of its own. This"
        f" takes about {duration(seconds)} (an estimate). {queue()}"
    )
    title = "Train on all ratings"
    if export.entry.public:
        st.button(
            title,
            key="export.train",
            type="primary",
            on_click=_request,
            args=([export.run],),
        )
        st.caption(f"{words} The data are public or synthetic: it adds to no account.")
        return
    works = [export.run]
    purchases.draw_button("export.train", title, works, _request, (works,))
    st.caption(f"**Training is another release from your data.** {words}")


def _draw_model(run: Run, export: Export) -> None:
    record = run.record
    if record.public:
        st.write(linked(f"**Trained on all ratings**, with {record.loss}."))
    else:
        decision = account_summary.decision_about(export.entry.id, ())
        words = f"**Trained on all ratings.** Drawn from your data so far: **{decision.cost}**."
        if export.finding is None:  # its summary says the rest
            words += f" {decision.certainty.words()} {decision.not_counted}"
        st.write(linked(words))
    packed_run, content = st.session_state.get(PACKED, (None, b""))
    if packed_run is not run:
        content = saving.packed(_with_own_name(run, export.entry), MODEL)
        st.session_state[PACKED] = (run, content)
    with st.container(key="export.download"):
        st.download_button(
            "Download the model",
            content,
            f"{MODEL}.zip",
            "application/zip",
            type="primary",
            on_click="ignore",
        )
        st.caption(
            f'Unzip it anywhere and read it with `dpmf.load_model("{MODEL}")`. It holds a model'
            " card, a privacy statement, and items' factors and offsets, and nothing of single"
            " people."
        )


def _with_own_name(run: Run, entry: Any) -> Run:
    """A run on an uploaded file as the command makes it, under the file's own name."""
    items = run.items or ItemNames.of(data_access.ratings_anywhere(run))
    spec = on_data(run.spec, command_path(entry))
    return Run(run.record.model_copy(update={"spec": spec}), run.arrays, items)


# ---- the command, the documents ------------------------------------------------------------------


def _draw_command(export: Export) -> None:
    st.header("The command", anchor=False)
    st.code(export.command, language="bash", wrap_lines=True)
    words = f"It trains on all ratings and saves the model in the new folder `{MODEL}`."
    if datasets.is_own(export.entry.id):
        words = f"Run it in the folder of your file. {words}"
    if not export.entry.public:
        words += " Each training is another release, in the account of the computer where it runs."
    st.caption(
        f"{words} Where dpmf is not installed, write `python -m dpmf` in its clone."
    )


def _draw_documents(export: Export) -> None:
    finding = export.finding
    if finding is not None:
        files = {
            "which-method.html": ("Page to print", report(finding)),
            "which-method.ipynb": ("Notebook", notebook(finding)),
        }
        with st.container(key="export.documents"):
            st.header("The answer", anchor=False)
            draw_files(files)
            st.caption(
                "The files contain public, synthetic, declared and noisy figures, no private rows."
            )
        st.caption(f"{safe_text.escape(finding.cost)} {finding.training}")
        draw_figure(finding)
    total = {"accountant.total": export.run.require_budget().epsilon}
    if st.button(
        "Split ε over several models", on_click=st.session_state.update, args=(total,)
    ):
        links.go("accountant")
