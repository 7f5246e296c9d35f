"""What a lesson's parts demonstrate: controls and figures, with their texts from `lessons.toml`.

A demonstration draws its controls and its figure. It returns the values of the result and the
caption of its part, or None while its runs are being computed.
"""

from collections.abc import Callable
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.privacy.certainty import certainty_at
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs.data_access import open_ratings
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.teaching import demonstrations, linkage, membership
from dpmf_core.teaching.lessons import LessonPart
from pages.kit.base import links, safe_text
from pages.kit.figures import charts, colours, payers
from pages.kit.privacy import observer_diagram
from pages.kit.running.runs import ask

Values = dict[str, Any]
SMALL = "cinema-small"
PEOPLE = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)
SHARE = 0.3  # of people with the true answer yes
MOST_FILMS = 8
EXACTNESS = {3: "within 3 days", 30: "within 30 days", None: "not at all"}
STEPS = {
    "nonnegative": "nothing below zero",
    "rounded": "whole numbers",
    "rescaled": "scale to the noisy total",
}


def draw(part: LessonPart) -> None:
    values = DEMONSTRATIONS[part.id](part)
    for write, text in ((st.markdown, part.result), (st.caption, part.caption)):
        if text and values is not None:
            write(text.format(**values))


# ---- controls and figures ------------------------------------------------------------------------


def _epsilon(
    key: str,
    start: float = 1.0,
    place: DeltaGenerator | None = None,
    label: str = "Privacy loss ε, total",
) -> float:
    marks = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]
    slider = (place or st).select_slider
    return float(
        slider(label, marks, start, key=f"learn.{key}", format_func=budget_text)
    )


def _people(place: DeltaGenerator, label: str, start: int, key: str) -> int:
    return int(
        place.select_slider(label, PEOPLE, start, key=key, format_func="{:,}".format)
    )


def _films(key: str) -> tuple[int, ...]:
    films = st.pills(
        "Films that you saw",
        list(range(membership.FILMS)),
        selection_mode="multi",
        default=[0, 3, 7, 11],
        key=key,
        format_func=lambda film: str(film + 1),
    )
    return tuple(films)


def _draw_curves(
    part: LessonPart, table: pd.DataFrame, mark: float | None = None
) -> None:
    """Draw the lines that the part's text describes, over one column of a table.

    Parameters
    ----------
    mark
        Where a vertical line stands.
    """
    about = part.figure
    lines = about["lines"]
    fig = charts.figure(
        about["x"],
        about["y"],
        320,
        about.get("xaxis", {}),
        about.get("yaxis", {}),
    )
    for line in lines:
        fig.add_scatter(
            x=table[about["axis"]],
            y=table[line["column"]],
            name=line["name"],
            mode=line.get("mode", "lines"),
            fill=line.get("fill"),
            showlegend=len(lines) > 1,  # the axis names a single one
            line={
                "color": colours.of(line["colour"]),
                "width": 2.5,
                "dash": line.get("dash"),
            },
        )
    if mark is not None:
        fig.add_vline(x=mark, line={"color": colours.ink(), "dash": "dash"})
    _show(part, fig, table)


def _show(part: LessonPart, fig: go.Figure, table: pd.DataFrame) -> None:
    charts.show(fig, f"learn.{part.id}.figure", part.figure["alt"], table, leaves=True)


# ---- being found ---------------------------------------------------------------------------------


def linking(part: LessonPart) -> Values:
    left, right = st.columns(2)
    off = left.segmented_control(
        "How precisely the day is known",
        EXACTNESS,
        default=3,
        required=True,
        key="learn.exactness",
        format_func=EXACTNESS.__getitem__,
    )
    count = right.slider("Known films", 1, MOST_FILMS, 2, key="learn.known")
    shares = linkage.share_named(MOST_FILMS, off)
    table = pd.DataFrame({"films": range(1, MOST_FILMS + 1), "share": shares})
    _draw_curves(part, table, count)
    name, person = linkage.first_found(2, 3)
    days = linkage.published_days()[person]
    reviews = linkage.reviews_of_targets(2, 3)[person]
    rows = [(str(film + 1), str(day), str(days[film])) for film, day in reviews]
    columns = ["film", f"the day, as {name} wrote it", f"the day in row {person + 1}"]
    safe_text.words_table(rows, columns)
    return {
        "count": count,
        "exactness": EXACTNESS[off],
        "share": shares[count - 1],
        "name": name,
    }


def _difference(
    part: LessonPart, films: tuple[int, ...], noise: float = 0.0, draw: int = 0
) -> str:
    """Draw what an attacker sees of each film; return the films with a difference."""
    club = membership.club(films, noise, draw)
    table = pd.DataFrame(
        {
            "film": range(1, membership.FILMS + 1),
            "published": club.published_sums,
            "others": club.others,
            "difference": club.difference,
            "seen": club.has_seen,
        }
    )
    fig = charts.figure("film", "published sum minus all others", height=280)
    for is_seen, label, tint in (
        (True, "you saw it", "spectral"),
        (False, "you did not", "grey"),
    ):
        rows = table[table["seen"] == is_seen]
        fig.add_bar(
            x=rows["film"],
            y=rows["difference"],
            name=label,
            marker_color=colours.of(tint),
        )
    fig.update_xaxes(dtick=1)
    _show(part, fig, table)
    return ", ".join(str(film) for film in table["film"][table["difference"] != 0])


def exact_sums(part: LessonPart) -> Values:
    return {"films": _difference(part, _films("learn.films")) or "nothing"}


def noisy_sums(part: LessonPart) -> Values:
    epsilon = _epsilon("membership")
    films = _films("learn.films.noisy")
    noise = membership.noise_of(epsilon)
    draws = int(st.session_state.get("learn.draws", 0))
    _difference(part, films, noise, draws)
    st.button(
        "Draw the noise again",
        key="learn.again",
        on_click=st.session_state.update,
        args=({"learn.draws": draws + 1},),
    )
    return {
        "noise": noise,
        "epsilon": epsilon,
        "yours": 100 * membership.best_attack(epsilon, len(films)),
        "best": 100 * membership.best_attack(epsilon),
    }


# ---- what a guarantee says -----------------------------------------------------------------------


def neighbours(part: LessonPart) -> Values:
    epsilon = _epsilon("neighbours")
    table, noise = demonstrations.two_answers(epsilon)
    _draw_curves(part, table)
    return {"noise": noise, "epsilon": epsilon}


def group(part: LessonPart) -> Values:
    epsilon = _epsilon("group", label="Privacy loss ε, per photograph")
    epsilons = demonstrations.group_epsilons(epsilon)
    table = pd.DataFrame(
        {"photographs": epsilons.keys(), "epsilon": epsilons.values(), "one": epsilon}
    )
    _draw_curves(part, table)
    few = epsilon_text(epsilons[8])
    many = epsilon_text(epsilons[64])
    return {"epsilon": epsilon, "of_8": few, "of_64": many}


def joint(_part: LessonPart) -> Values:
    observer_diagram.draw_lesson()
    return {}


def attacker(part: LessonPart) -> Values:
    epsilon = _epsilon("odds")
    left, right = st.columns(2, gap="large")
    table = demonstrations.beliefs(epsilon)
    table["unmoved"] = table["before"]
    with left:
        _draw_curves(part, table)
    with right:
        curve = demonstrations.best_attacks(epsilon)
        charts.show(
            charts.trade_off(curve),
            "learn.curve",
            "Trade-off curve.",
            curve,
            leaves=True,
        )
    links.to("audit", "Attack a method: plant a fault", {"attack": "private-bias"})
    return {"certainty": certainty_at(epsilon, demonstrations.DELTA).words()}


# ---- noise ---------------------------------------------------------------------------------------


def response(part: LessonPart) -> Values:
    left, right = st.columns(2)
    truth = left.select_slider(
        "How often an answer is true",
        [0.55, 0.6, 0.75, 0.9, 0.99],
        0.75,
        key="learn.truth",
        format_func="{:.0%}".format,
    )
    people = _people(right, "People asked", 1_000, "learn.people")
    table = demonstrations.survey(SHARE, people, truth)
    table = table[table["chance"] > table["chance"].max() * 1e-4]
    _draw_curves(part, table, SHARE)
    epsilon = epsilon_text(demonstrations.response_epsilon(truth))
    error = 100 * demonstrations.response_error(people, truth)
    return {"truth": truth, "epsilon": epsilon, "people": people, "error": error}


def local(part: LessonPart) -> Values:
    left, right = st.columns(2)
    epsilon = _epsilon("local", place=left)
    people = _people(right, "People who take part", 10_000, "learn.local.people")
    errors = (demonstrations.central_error, demonstrations.local_error)
    rows = [
        (count, *(error(count, epsilon) for error in errors))
        for count in (10, 30, *PEOPLE)
    ]
    table = pd.DataFrame(rows, columns=["people", "central", "local"])
    _draw_curves(part, table)
    central, own = (error(people, epsilon) for error in errors)
    return {
        "people": people,
        "central": central,
        "own": own,
        "times": own / central,
        "epsilon": epsilon,
    }


def blocks(_part: LessonPart) -> Values:
    epsilon = _epsilon("blocks")
    links.to(
        "compare",
        "Measure what it costs to trust no one",
        {"dataset": SMALL, "methods": "private-bias,local-bias,user-mean"},
    )
    return {
        "epsilon": epsilon,
        "of_20": epsilon_text(demonstrations.part_epsilon(epsilon, 20)),
        "of_2000": epsilon_text(demonstrations.part_epsilon(epsilon, 2_000)),
        "half": epsilon_text(demonstrations.epsilon_without(epsilon, 0.5)),
    }


def clipping(part: LessonPart) -> Values:
    norms = [round(norm, 1) for norm in demonstrations.CLIP_NORMS]
    clip_norm = st.select_slider(
        "Clip norm C", norms, norms[12], key="learn.clip", format_func="{:g}".format
    )
    table = demonstrations.clipping_errors(open_ratings(DataSpec(id=SMALL)))
    at = table.iloc[int((table["norm"] - clip_norm).abs().argmin())]
    _draw_curves(part, table, at["norm"])
    return {"clip_norm": clip_norm, **at}


def composition(part: LessonPart) -> Values:
    steps = st.slider("Steps, each of ε = 0.5", 2, 100, 10, key="learn.steps")
    totals = demonstrations.totals(0.5, steps)
    _draw_curves(part, totals.reset_index())
    exact, plain_sum = map(float, totals.loc[steps])
    return {"steps": steps, "exact": epsilon_text(exact), "sum": plain_sum}


def postprocessing(part: LessonPart) -> Values:
    epsilon = _epsilon("after", 0.2)
    steps = st.pills(
        "Afterwards",
        STEPS,
        selection_mode="multi",
        default=["nonnegative"],
        key="learn.after.steps",
        format_func=STEPS.__getitem__,
    )
    noisy = demonstrations.noisy_counts(epsilon)
    after = demonstrations.processed(noisy, frozenset(steps))
    table = pd.DataFrame(
        {
            "stars": range(1, 6),
            "true": demonstrations.STARS,
            "published": noisy[0],
            "afterwards": after[0],
        }
    )
    fig = charts.figure("stars", "people", height=300)
    for bars in part.figure["lines"]:
        fig.add_bar(
            x=table["stars"],
            y=table[bars["column"]],
            name=bars["name"],
            marker_color=colours.of(bars["colour"]),
        )
    _show(part, fig, table)
    return {
        "off": demonstrations.count_error(after),
        "before": demonstrations.count_error(noisy),
        "epsilon": epsilon,
    }


def price(_part: LessonPart) -> Values | None:
    epsilon = _epsilon("price", 2.0)
    private = RunSpec.parse(
        data={"id": SMALL},
        algorithm="dpals",
        budget={"epsilon": epsilon, "delta": demonstrations.DELTA},
    )
    specs = {
        "private": private,
        "not private": private.on("als").canonical(),
        "own mean": private.on("user-mean").canonical(),
    }
    runs = ask("learn.runs", specs)
    if len(runs) < len(specs):
        return None
    draws = {name: [runs[name]] for name in specs}
    payers.draw_payers("learn.price", draws, leaves=True)
    errors = {name: run.record.metric("rmse") for name, run in runs.items()}
    finding = payers.finding(draws, "private", "not private")[1]
    return {"epsilon": epsilon, "finding": finding, **errors}


DEMONSTRATIONS: dict[str, Callable[[LessonPart], Values | None]] = {
    "linking": linking,
    "exact sums": exact_sums,
    "noisy sums": noisy_sums,
    "neighbours": neighbours,
    "group": group,
    "joint": joint,
    "attacker": attacker,
    "response": response,
    "local": local,
    "blocks": blocks,
    "clipping": clipping,
    "composition": composition,
    "postprocessing": postprocessing,
    "price": price,
}
