"""Claims of Saha & Imtiaz 2022 [S22]: topics, faces, and MovieLens.

Its epsilon is per statistic and per step. A method with the source's noise starts from the private
data (NNDSVD), so nothing is proved for it.

Not included: Fig. 1, which draws the protocol; Fig. 9, bars of a topic's words, and Fig. 11, one
face as a sum of parts, which Topics and Faces draw for any run.
"""

from dataclasses import replace
from typing import Any

from dpmf_core.papers.figures import Claim, Preset
from dpmf_core.papers.saha_2022 import judgement, methods
from dpmf_core.papers.saha_2022.departures import DEPARTS, with_departures
from dpmf_core.papers.saha_2022.methods import PRIVATE, SET_APART
from dpmf_core.papers.saha_2022.units import TABLE_4
from dpmf_core.privacy import Budget, Calibration
from dpmf_core.runs.inspection import shared_words
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.runs.sweep import Sweep

BOTH_LEVELS = (0.5, 0.9)


def claim(name: str, **fields: Any) -> Claim:
    """A claim of this paper, with our departures in its remark."""
    fields["remark"] = with_departures(*filter(None, [fields.get("remark")]))
    return Claim.of(__package__, name, **fields)


LEARNING = (
    claim(
        "saha-fig2",
        sweeps=methods.by_epsilon(methods.documents, BOTH_LEVELS),
        remark=judgement.remark_on_documents,
    ),
    claim(
        "saha-fig3",
        sweeps=methods.by_epsilon(methods.documents, methods.PER_STEP),
        remark=judgement.remark_on_documents,
    ),
    claim(
        "saha-fig5",
        sweeps=methods.by_epsilon(methods.face_sets, BOTH_LEVELS),
        remark=judgement.remark_on_faces,
    ),
    claim(
        "saha-fig6",
        sweeps=methods.by_epsilon(methods.face_sets, methods.PER_STEP),
        remark=judgement.remark_on_faces,
    ),
    claim("saha-start", sweeps=methods.by_epsilon(methods.every_set, BOTH_LEVELS)),
    claim("saha-epochs", sweeps=methods.with_quiet_steps, measure=judgement.epochs),
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
        remark=judgement.remark_on_words,
    ),
    claim("saha-table3", sweeps=methods.by_epsilon(methods.guardian, methods.TABLE_3)),
    claim(
        "saha-table3-uci",
        sweeps=methods.by_epsilon(methods.headlines, methods.TABLE_3, K=7),
        clauses=(judgement.ALL_ALIKE,),
    ),
    claim("saha-fig10", sweeps=methods.topic_numbers),
)
PARTS = (
    claim(
        "saha-fig7",
        sweeps=methods.by_epsilon(methods.face_sets, (0.5,)),
        measure=judgement.roughness,
    ),
    claim("saha-fig8", sweeps=methods.with_outliers, measure=judgement.roughness),
)

CLAIMS = (*LEARNING, *TOPICS, TABLE_4, *PARTS)


# ---- the methods as published --------------------------------------------------------------------

BUDGET = Budget(
    epsilon=0.5,
    delta=1e-5,
    calibration=Calibration.SOURCE,
)


def _preset(name: str, *, outliers: bool) -> Preset:
    planted = methods.CONTAMINATED if outliers else {}

    def sweeps() -> tuple[Sweep, ...]:
        (faces,) = methods.present(("yaleb",), "faces", planted)
        K = methods.parts_of(faces.id)
        label = SET_APART if outliers else PRIVATE
        private = methods.as_published(K, methods.STEPS, label, outliers=outliers)
        both = (private, methods.plain(K))
        seeds = methods.FRESH[:1]
        return (
            Sweep(
                data=faces,
                methods=both,
                epsilons=methods.PER_STEP,
                seeds=seeds,
            ),
        )

    run = RunSpec(
        data=DataSpec.model_validate({"id": "faces", **planted}),
        algorithm="dp-nmf",
        parameters=methods.as_published(
            methods.parts_of("faces"), methods.STEPS, outliers=outliers
        ).parameters,
        budget=BUDGET,
    )
    preset = Preset.of(
        __package__,
        name,
        sweeps=sweeps,
        run=run,
    )
    return replace(preset, settings=f"{preset.settings} {DEPARTS}")


PRESETS = (
    _preset("saha-preset", outliers=False),
    _preset("saha-preset-outliers", outliers=True),
)
