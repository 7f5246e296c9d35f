"""Claims of Saha & Imtiaz 2022 [S22]: topics, faces, and MovieLens.

Its epsilon is per statistic and per step. A method "as in the source" starts from the private data
(NNDSVD), so nothing is proved for it.

Not included: Fig. 1, which draws the protocol; Fig. 9, bars of a topic's words, and Fig. 11, one
face as a sum of parts, which Topics and Faces draw for any run.
"""

from typing import Any

from dpmf_core.papers.clauses import Clause, Median, between, less, near, on_each, rises
from dpmf_core.papers.figures import Claim, Preset, Sweeps
from dpmf_core.papers.saha_2022 import judgement, methods
from dpmf_core.papers.saha_2022.methods import PLAIN, PRIVATE, QUIET, RANDOM, SET_APART
from dpmf_core.papers.saha_2022.units import TABLE_4
from dpmf_core.privacy import Budget, Calibration
from dpmf_core.runs.inspection import shared_words
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.runs.sweep import Sweep

EPSILONS = methods.TABLE_3
UCI = {
    at: 0.9996000 + last * 1e-7
    for at, last in zip(EPSILONS, (975, 895, 849, 836, 832, 839), strict=True)
}
UCI_PLAIN = 0.9996816
GUARDIAN = dict(zip(EPSILONS, (0.4511, 0.4529, 0.4535, 0.4547, 0.4543, 0.4540), strict=True))
GUARDIAN_PLAIN = 0.4658

# what the source says, with its place
SMALL = (
    "section 5",
    "All the results show a small utility gap compared to the non-private mechanism",
)
LITTLE = ("section 4.2, Fig. 2", "For all the data sets, there exists a little utility gap")
NARROWER = ("section 4.2, Fig. 2", "this gap decreases further for a higher privacy budget")
FACES_NARROWER = (
    "section 4.3, Fig. 5",
    "The utility gap is very small and is even smaller for higher privacy budget",
)
BOTH_LEVELS = (0.5, 0.9)
LEFT_OPEN = (
    "The paper prints neither the number of steps nor the learning rate of W, but its ratio to that"
    " of H, and refers to another paper for the rest; ours are 100 steps and 0.2."
)
# fields of claims on documents, on faces and on both
OF_DOCUMENTS: dict[str, Any] = {
    "source_ids": methods.DOCUMENTS,
    "source_data": methods.DOCUMENT_SETS,
}
OF_FACES: dict[str, Any] = {"source_ids": methods.FACES, "source_data": methods.FACE_SETS}
OF_ALL: dict[str, Any] = {
    "source_ids": (*methods.DOCUMENTS, *methods.FACES),
    "source_data": f"{methods.DOCUMENT_SETS}, {methods.FACE_SETS}",
}
OF_GUARDIAN = {**OF_DOCUMENTS, "source_ids": ("guardian",), "source_data": "Guardian news articles"}


def claim(name: str, each: tuple[Clause, ...] = (), **fields: Any) -> Claim:
    """Return a claim on the objective by data set; `fields` may replace these.

    each: clauses that must hold on each data set.
    """
    fields = {"metric": "objective", "by_data": True, "left_open": LEFT_OPEN, **fields}
    fields.setdefault("clauses", tuple(on_each("data", clause) for clause in each))
    return Claim.of(__package__, name, **fields)


LEARNING = (
    claim(
        "saha-fig2",
        sweeps=methods.by_epsilon(methods.documents, BOTH_LEVELS),
        each=judgement.gap_clauses(BOTH_LEVELS, LITTLE, NARROWER),
        remark=judgement.remark_on_documents,
        axis="step",
        **OF_DOCUMENTS,
    ),
    claim(
        "saha-fig3",
        sweeps=methods.by_epsilon(methods.documents, methods.PER_STEP),
        each=judgement.gap_clauses(methods.PER_STEP, SMALL, NARROWER),
        remark=judgement.remark_on_documents,
        **OF_DOCUMENTS,
    ),
    claim(
        "saha-fig5",
        sweeps=methods.by_epsilon(methods.face_sets, BOTH_LEVELS),
        each=judgement.gap_clauses(BOTH_LEVELS, FACES_NARROWER, FACES_NARROWER),
        remark=judgement.remark_on_faces,
        axis="step",
        **OF_FACES,
    ),
    claim(
        "saha-fig6",
        sweeps=methods.by_epsilon(methods.face_sets, methods.PER_STEP),
        each=judgement.gap_clauses(methods.PER_STEP, SMALL, FACES_NARROWER),
        remark=judgement.remark_on_faces,
        **OF_FACES,
    ),
    claim(
        "saha-start",
        sweeps=methods.by_epsilon(methods.every_set, BOTH_LEVELS),
        each=(
            less(
                Median(PRIVATE, 0.9),
                Median(RANDOM, 0.9),
                "a start from NNDSVD ends with a lower objective than a random one",
            ).quoting(
                "section 4.1",
                "we found that it performs better than random initialization in minimizing",
            ),
        ),
        **OF_ALL,
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
            ).quoting(
                "section 5",
                "the private mechanism needs more epochs to reach the optimum loss point"
                " because we have to use a smaller step size in private learning. Also, adding"
                " noise",
            ),
        ),
        **OF_ALL,
    ),
    claim(
        "saha-images",
        sweeps=methods.by_epsilon(methods.every_set, BOTH_LEVELS),
        clauses=(
            judgement.images_cost_more().quoting(
                "section 5",
                "the performance of the image data set is more sensitive to privacy noise compared"
                " to the text data set",
            ),
        ),
        **OF_ALL,
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
            ).quoting(
                "section 4.2, Fig. 4",
                "The topic word distribution looks almost similar for private and non-private"
                " mechanism",
            ),
        ),
        remark=judgement.remark_on_words,
        source_ids=("guardian", "uci-news"),
        source_data="Guardian news articles and the UCI News Aggregator",
    ),
    claim(
        "saha-table3",
        sweeps=methods.by_epsilon(methods.guardian, EPSILONS),
        clauses=(
            rises("coherence increases with the ε of a step", PRIVATE, "epsilon").quoting(
                "section 4.2, Table 3",
                "topic coherence score increases with increasing the privacy budget",
            ),
            near(
                "privacy at 0.5 a step costs 3% of it",
                judgement.coherence_cost,
                0.4511 / 0.4658,
                0.03,
            ).quoting("Table 3", "0.5 [...] 0.4511 [...] Non-Private [...] 0.4658"),
            judgement.close([Median(PRIVATE, 0.999)], Median(PLAIN), 0.03).quoting(
                "section 4.2, Fig. 4", "the high similarity of coherence scores (Table 3)"
            ),
        ),
        metric="coherence",
        by_data=False,
        marks=methods.marks(PRIVATE, "Table 3, Guardian", *GUARDIAN.items())
        + methods.marks(PLAIN, "Table 3, Guardian, without privacy", (None, GUARDIAN_PLAIN)),
        **OF_GUARDIAN,
    ),
    claim(
        "saha-table3-uci",
        sweeps=methods.by_epsilon(methods.headlines, EPSILONS, K=7),
        clauses=(
            near("without privacy it is 0.9997", Median(PLAIN), UCI_PLAIN, 0.01).quoting(
                "Table 3", "Non-Private [...] 0.9996816"
            ),
            between(
                "all scores, with privacy and without, are within 1% of each other",
                judgement.spread,
                -1,
                0.01,
                "largest over smallest, less 1,",
            ).quoting(
                "section 4.2, Table 3",
                "For UCI-news-aggregator data set, all the scores are very close to each other in"
                " respect to privacy budget. [...] private and non-private learning",
            ),
        ),
        source_ids=("uci-news",),
        source_data="UCI News Aggregator, 750 news articles of each of four categories, 93 terms",
        metric="coherence",
        by_data=False,
        marks=methods.marks(PRIVATE, "Table 3, UCI", *UCI.items())
        + methods.marks(PLAIN, "Table 3, UCI, without privacy", (None, UCI_PLAIN)),
    ),
    claim(
        "saha-fig10",
        sweeps=methods.topic_numbers,
        clauses=(
            judgement.eight_topics().quoting(
                "Appendix A.4, Fig. 10", "This figure suggests selecting [...] as the topic number"
            ),
        ),
        axis="n_components",
        metric="coherence",
        by_data=False,
        **OF_GUARDIAN,
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
            ).quoting(
                "section 4.3, Fig. 7",
                "the facial features are noisy compared to the non-privacy mechanism",
            ),
        ),
        **OF_FACES,
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
            ).quoting(
                "section 4.3, Fig. 8",
                "the basic representation of Fig. 8d is more noisy compared to the Fig. 7b",
            ),
        ),
        source_ids=("yaleb",),
        source_data="Extended Yale B (K 38)",
    ),
)

CLAIMS = (*LEARNING, *TOPICS, TABLE_4, *PARTS)


# ---- the methods as published --------------------------------------------------------------------

BUDGET = Budget(epsilon=0.5, delta=1e-5, calibration=Calibration.SOURCE)


def _planted(outliers: bool) -> dict[str, float]:
    return methods.CONTAMINATED if outliers else {}


def _sweeps(outliers: bool) -> Sweeps:
    def sweeps(full: bool) -> tuple[Sweep, ...]:
        (faces,) = methods.present(("yaleb",), "faces", **_planted(outliers))
        K, label = methods.parts_of(faces.id), SET_APART if outliers else PRIVATE
        private = methods.as_published(K, methods.n_steps(full), label, outliers=outliers)
        both, seeds = (private, methods.plain(K)), methods.FRESH[:1]
        return (Sweep(data=faces, methods=both, epsilons=methods.PER_STEP, seeds=seeds),)

    return sweeps


def _run(outliers: bool) -> RunSpec:
    data = DataSpec.model_validate({"id": "faces", **_planted(outliers)})
    parameters = methods.as_published(methods.parts_of(data.id), 100, outliers=outliers).parameters
    return RunSpec(data=data, algorithm="dp-nmf", parameters=parameters, budget=BUDGET)


def _preset(name: str, *, outliers: bool) -> Preset:
    fields = {"sweeps": _sweeps(outliers), "metric": "objective", "run": _run(outliers)}
    return Preset.of(__package__, name, **fields)


PRESETS = (_preset("saha-preset", outliers=False), _preset("saha-preset-outliers", outliers=True))
