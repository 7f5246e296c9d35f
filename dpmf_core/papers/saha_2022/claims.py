"""Claims of Saha & Imtiaz 2022 [S22]: topics, faces, and MovieLens.

Its epsilon is per statistic and per step. A method with the source's noise starts from the private
data (NNDSVD), so nothing is proved for it.

Not included: Fig. 1, which draws the protocol; Fig. 9, bars of a topic's words, and Fig. 11, one
face as a sum of parts, which Topics and Faces draw for any run.
"""

import functools
from dataclasses import replace
from typing import Any

from dpmf_core.papers.clauses import Clause, Median, between, less, near, on_each, rises
from dpmf_core.papers.figures import Claim, Preset
from dpmf_core.papers.saha_2022 import judgement, methods
from dpmf_core.papers.saha_2022.deviations import DEPARTS, with_departures
from dpmf_core.papers.saha_2022.methods import PLAIN, PRIVATE, QUIET, RANDOM, SET_APART
from dpmf_core.papers.saha_2022.units import TABLE_4
from dpmf_core.privacy import Budget, Calibration
from dpmf_core.runs.inspection import shared_words
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.runs.sweep import Sweep

BOTH_LEVELS = (0.5, 0.9)
UCI_PLAIN = 0.9996816
LEFT_OPEN = (
    "The paper prints neither the number of steps nor the learning rate of W, but its ratio to that"
    " of H, and refers to another paper for the rest; ours are 100 steps and 0.2."
)


def claim(name: str, each: tuple[Clause, ...] = (), **fields: Any) -> Claim:
    """Return a claim on the objective by data set; `fields` may replace these.

    each: clauses that must hold on each data set.
    """
    fields = {"metric": "objective", "by_data": True, "left_open": LEFT_OPEN, **fields}
    fields.setdefault("clauses", tuple(on_each("data", clause) for clause in each))
    fields["remark"] = with_departures(*filter(None, [fields.get("remark")]))
    return Claim.of(__package__, name, **fields)


of_coherence = functools.partial(claim, metric="coherence", by_data=False)
LEARNING = (
    claim(
        "saha-fig2",
        sweeps=methods.by_epsilon(methods.documents, BOTH_LEVELS),
        each=judgement.gap_clauses(BOTH_LEVELS),
        remark=judgement.remark_on_documents,
        axis="step",
    ),
    claim(
        "saha-fig3",
        sweeps=methods.by_epsilon(methods.documents, methods.PER_STEP),
        each=judgement.gap_clauses(methods.PER_STEP),
        remark=judgement.remark_on_documents,
    ),
    claim(
        "saha-fig5",
        sweeps=methods.by_epsilon(methods.face_sets, BOTH_LEVELS),
        each=judgement.gap_clauses(BOTH_LEVELS),
        remark=judgement.remark_on_faces,
        axis="step",
    ),
    claim(
        "saha-fig6",
        sweeps=methods.by_epsilon(methods.face_sets, methods.PER_STEP),
        each=judgement.gap_clauses(methods.PER_STEP),
        remark=judgement.remark_on_faces,
    ),
    claim(
        "saha-start",
        sweeps=methods.by_epsilon(methods.every_set, BOTH_LEVELS),
        each=(
            less(
                Median(PRIVATE, 0.9),
                Median(RANDOM, 0.9),
                "a start from NNDSVD ends with a lower objective than a random one",
            ),
        ),
    ),
    claim(
        "saha-epochs",
        sweeps=methods.with_quiet_steps,
        measure=judgement.epochs,
        each=(
            less(
                Median(QUIET),
                Median(PRIVATE),
                "the private method takes more steps to its lowest objective than without noise",
            ),
        ),
    ),
    claim(
        "saha-images",
        sweeps=methods.by_epsilon(methods.every_set, BOTH_LEVELS),
        clauses=(judgement.IMAGES_COST_MORE,),
    ),
)

TOPICS = (
    claim(
        "saha-fig4",
        sweeps=methods.by_epsilon(methods.with_topics, methods.PER_STEP),
        measure=judgement.compared_with_plain(shared_words),
        each=(
            between(
                "at ε = 0.5 a step most of the ten words of a topic are those without privacy",
                Median(PRIVATE, 0.5),
                5,
                10.5,
                "words shared",
            ),
        ),
        remark=judgement.remark_on_words,
    ),
    of_coherence(
        "saha-table3",
        sweeps=methods.by_epsilon(methods.guardian, methods.TABLE_3),
        clauses=(
            rises("coherence increases with the ε of a step", PRIVATE, "epsilon"),
            near(
                "privacy at 0.5 a step costs 3% of it",
                judgement.coherence_cost,
                0.4511 / 0.4658,
                0.03,
            ),
            judgement.close([Median(PRIVATE, 0.999)], Median(PLAIN), 0.03),
        ),
    ),
    of_coherence(
        "saha-table3-uci",
        sweeps=methods.by_epsilon(methods.headlines, methods.TABLE_3, K=7),
        clauses=(
            near("without privacy it is 0.9997", Median(PLAIN), UCI_PLAIN, 0.01),
            between(
                "all scores, with privacy and without, are within 1% of each other",
                judgement.spread,
                -1,
                0.01,
                "largest over smallest, less 1,",
            ),
        ),
    ),
    of_coherence(
        "saha-fig10",
        sweeps=methods.topic_numbers,
        clauses=(judgement.EIGHT_TOPICS,),
        axis="n_components",
    ),
)

PARTS = (
    claim(
        "saha-fig7",
        sweeps=methods.by_epsilon(methods.face_sets, (0.5,)),
        measure=judgement.roughness,
        each=(
            less(
                Median(PLAIN),
                Median(PRIVATE, 0.5),
                "at ε = 0.5 a step the parts are noisier than without privacy",
            ),
        ),
    ),
    claim(
        "saha-fig8",
        sweeps=methods.with_outliers,
        measure=judgement.roughness,
        each=(
            less(
                Median(PRIVATE, 0.5),
                Median(SET_APART, 0.5),
                "with outliers planted and set apart the private parts are noisier than"
                " those of clean faces",
            ),
        ),
    ),
)

CLAIMS = (*LEARNING, *TOPICS, TABLE_4, *PARTS)


# ---- the methods as published --------------------------------------------------------------------

BUDGET = Budget(epsilon=0.5, delta=1e-5, calibration=Calibration.SOURCE)


def _preset(name: str, *, outliers: bool) -> Preset:
    planted = methods.CONTAMINATED if outliers else {}

    def sweeps() -> tuple[Sweep, ...]:
        (faces,) = methods.present(("yaleb",), "faces", **planted)
        K, label = methods.parts_of(faces.id), SET_APART if outliers else PRIVATE
        private = methods.as_published(K, methods.STEPS, label, outliers=outliers)
        both, seeds = (private, methods.plain(K)), methods.FRESH[:1]
        return (Sweep(data=faces, methods=both, epsilons=methods.PER_STEP, seeds=seeds),)

    run = RunSpec(
        data=DataSpec.model_validate({"id": "faces", **planted}),
        algorithm="dp-nmf",
        parameters=methods.as_published(
            methods.parts_of("faces"), methods.STEPS, outliers=outliers
        ).parameters,
        budget=BUDGET,
    )
    preset = Preset.of(__package__, name, sweeps=sweeps, metric="objective", run=run)
    return replace(preset, settings=f"{preset.settings} {DEPARTS}")


PRESETS = (_preset("saha-preset", outliers=False), _preset("saha-preset-outliers", outliers=True))
