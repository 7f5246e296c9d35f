"""Figures and tables of Saha & Imtiaz 2022 [S22], and ours beside them: topics, faces, MovieLens
through non-negative factorisation.

Its epsilon is per statistic and per step. A method "as in the source" starts from the private data
(NNDSVD), so nothing is proved for it.

Not here: Fig. 1, a drawing of the protocol; Fig. 9, bars of a topic's words, and Fig. 11, one face
as a sum of parts, which the Topics and Faces pages draw of any run.
"""

from dpmf_core.papers.clauses import Median, between, larger, less, near, on_each
from dpmf_core.papers.figures import Claim
from dpmf_core.papers.saha_2022.judgement import (
    ALIKE,
    at_both_ends,
    beside_plain,
    close,
    coherence_cost,
    eight_topics,
    judged_by_epsilon,
    judged_by_step,
    remark_on_documents,
    remark_on_faces,
    remark_on_words,
)
from dpmf_core.papers.saha_2022.methods import (
    DOCUMENT_SETS,
    DOCUMENTS,
    FACE_SETS,
    FACES,
    PER_STEP,
    PLAIN,
    PRIVATE,
    ROBUST,
    S22,
    TABLE_3,
    WITHOUT,
    by_epsilon,
    documents,
    face_sets,
    guardian,
    headlines,
    marks,
    topic_numbers,
    with_outliers,
)
from dpmf_core.papers.saha_2022.units import TABLE_4
from dpmf_core.runs.inspection import likeness, shared_words

UCI = {
    at: 0.9996000 + last * 1e-7
    for at, last in zip(TABLE_3, (975, 895, 849, 836, 832, 839), strict=True)
}
UCI_PLAIN = 0.9996816
GUARDIAN = dict(zip(TABLE_3, (0.4511, 0.4529, 0.4535, 0.4547, 0.4543, 0.4540), strict=True))
GUARDIAN_PLAIN = 0.4658

CLAIMS = (
    Claim(
        id="saha-fig2",
        title="Objective by step, documents",
        source=f"{S22}, Fig. 2",
        page="topics",
        words="0.5 for each of two statistics in each step.",
        sweeps=by_epsilon(documents, (0.5,)),
        measure=at_both_ends,
        clauses=judged_by_step(),
        remark=remark_on_documents,
        source_ids=DOCUMENTS,
        source_data=DOCUMENT_SETS,
        axis="step",
        metric="objective",
        by_data=True,
    ),
    Claim(
        id="saha-fig3",
        title="Objective and overall ε against the ε of a step, documents",
        source=f"{S22}, Fig. 3",
        page="topics",
        words="Every step pays again: the axis above says what all steps cost.",
        sweeps=by_epsilon(documents, PER_STEP),
        clauses=judged_by_epsilon(PER_STEP),
        remark=remark_on_documents,
        source_ids=DOCUMENTS,
        source_data=DOCUMENT_SETS,
        metric="objective",
        by_data=True,
    ),
    Claim(
        id="saha-fig4",
        title="Topics as words, private beside non-private",
        source=f"{S22}, Table 2 and Fig. 4",
        page="topics",
        words="How many of the ten heaviest words a topic shares with its partner.",
        sweeps=by_epsilon(documents, PER_STEP),
        measure=beside_plain(shared_words),
        clauses=(
            on_each(
                "data",
                between(
                    "at ε = 0.5 a step most of the ten words of a topic are those without privacy",
                    Median(PRIVATE, 0.5),
                    5,
                    10.5,
                    "words shared",
                ),
            ),
        ),
        remark=remark_on_words,
        source_ids=DOCUMENTS,
        source_data=DOCUMENT_SETS,
        metric="objective",
        by_data=True,
    ),
    Claim(
        id="saha-table3",
        title="Coherence against the ε of a step, Guardian",
        source=f"{S22}, Table 3",
        page="topics",
        words="TC-W2V of the ten heaviest words of a topic.",
        sweeps=by_epsilon(guardian, TABLE_3),
        clauses=(
            close(Median(PRIVATE, 0.999), Median(PLAIN), 0.03),
            near("privacy at 0.5 a step costs 3% of it", coherence_cost, 0.4511 / 0.4658, 0.03),
            larger(
                Median(PRIVATE, 0.999),
                Median(PRIVATE, 0.5),
                "it is larger at ε = 0.999 a step than at 0.5",
            ),
        ),
        source_ids=("guardian",),
        source_data="Guardian news articles",
        metric="coherence",
        marks=marks(PRIVATE, "Table 3, Guardian", *GUARDIAN.items())
        + marks(PLAIN, "Table 3, Guardian, without privacy", (None, GUARDIAN_PLAIN)),
    ),
    Claim(
        id="saha-table3-uci",
        title="Coherence against the ε of a step, UCI News",
        source=f"{S22}, Table 3",
        page="topics",
        words="93 words for seven topics of ten: too few to tell good topics from bad ones.",
        sweeps=by_epsilon(headlines, TABLE_3, K=7),
        clauses=(
            near("without privacy it is 0.9997", Median(PLAIN), UCI_PLAIN, 0.01),
            near("at ε = 0.999 a step it is 0.9997", Median(PRIVATE, 0.999), UCI[0.999], 0.01),
            larger(
                Median(PRIVATE, 0.5),
                Median(PLAIN),
                "at ε = 0.5 a step it is larger with privacy than without",
            ),
        ),
        source_ids=("uci-news",),
        source_data="UCI News Aggregator, 750 headlines of each of four categories, 93 terms",
        metric="coherence",
        marks=marks(PRIVATE, "Table 3, UCI", *UCI.items())
        + marks(PLAIN, "Table 3, UCI, without privacy", (None, UCI_PLAIN)),
    ),
    TABLE_4,
    Claim(
        id="saha-fig5",
        title="Objective by step, faces",
        source=f"{S22}, Fig. 5",
        page="faces",
        words="0.5 for each of two statistics in each step.",
        sweeps=by_epsilon(face_sets, (0.5,)),
        measure=at_both_ends,
        clauses=judged_by_step(),
        remark=remark_on_faces,
        source_ids=FACES,
        source_data=FACE_SETS,
        axis="step",
        metric="objective",
        by_data=True,
    ),
    Claim(
        id="saha-fig6",
        title="Objective and overall ε against the ε of a step, faces",
        source=f"{S22}, Fig. 6",
        page="faces",
        words="Every step pays again: the axis above says what all steps cost.",
        sweeps=by_epsilon(face_sets, PER_STEP),
        clauses=judged_by_epsilon(PER_STEP),
        remark=remark_on_faces,
        source_ids=FACES,
        source_data=FACE_SETS,
        metric="objective",
        by_data=True,
    ),
    Claim(
        id="saha-fig7",
        title="Parts of clean faces, private beside non-private",
        source=f"{S22}, Fig. 7",
        page="faces",
        words="Each private part stands where its partner does.",
        sweeps=by_epsilon(face_sets, (0.5,)),
        measure=beside_plain(likeness),
        clauses=(
            on_each(
                "data",
                between(
                    f"at ε = 0.5 a step the parts are like those without privacy: their mean cosine"
                    f" is above {ALIKE:g}",
                    Median(PRIVATE, 0.5),
                    ALIKE,
                    1.001,
                    "mean cosine",
                ),
            ),
        ),
        source_ids=FACES,
        source_data=FACE_SETS,
        metric="parts_match",
        by_data=True,
    ),
    Claim(
        id="saha-fig8",
        title="Faces with planted outliers",
        source=f"{S22}, Fig. 8",
        page="faces",
        words=(
            "A tenth of the images, seven tenths of their pixels; judged on clean images, at"
            " ε = 0.5 a step."
        ),
        sweeps=with_outliers,
        clauses=tuple(
            on_each("data", clause)
            for clause in (
                less(Median(ROBUST), Median(PLAIN), "setting outliers apart lowers the objective"),
                less(
                    Median(PRIVATE, 0.5),
                    Median(WITHOUT, 0.5),
                    "setting outliers apart lowers the private objective",
                ),
                close(Median(PRIVATE, 0.5), Median(ROBUST)),
            )
        ),
        source_ids=FACES,
        source_data=FACE_SETS,
        metric="objective",
        by_data=True,
    ),
    Claim(
        id="saha-fig10",
        title="Coherence against the number of topics",
        source=f"{S22}, Fig. 10",
        page="topics",
        words="Without privacy; the source takes 8 topics from it.",
        sweeps=topic_numbers,
        clauses=(eight_topics(),),
        source_ids=("guardian",),
        source_data="Guardian news articles",
        axis="n_components",
        metric="coherence",
    ),
)
