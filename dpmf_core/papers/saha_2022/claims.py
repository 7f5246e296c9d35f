"""Claims of Saha & Imtiaz 2022 [S22]: topics, faces, and MovieLens.

Its epsilon is per statistic and per step. A method "as in the source" starts from the private data
(NNDSVD), so nothing is proved for it.

Not included: Fig. 1, which draws the protocol; Fig. 9, bars of a topic's words, and Fig. 11, one
face as a sum of parts, which Topics and Faces draw for any run.
"""

from dpmf_core.papers.clauses import Clause, Median, between, larger, less, near, on_each, rises
from dpmf_core.papers.figures import Claim
from dpmf_core.papers.saha_2022.judgement import (
    beside_plain,
    close,
    coherence_cost,
    eight_topics,
    epochs,
    gap_clauses,
    images_cost_more,
    remark_on_documents,
    remark_on_faces,
    remark_on_words,
    roughness,
    spread,
)
from dpmf_core.papers.saha_2022.methods import (
    DOCUMENT_SETS,
    DOCUMENTS,
    FACE_SETS,
    FACES,
    PER_STEP,
    PLAIN,
    PRIVATE,
    QUIET,
    RANDOM,
    S22,
    SET_APART,
    TABLE_3,
    beside_quiet_steps,
    by_epsilon,
    documents,
    every_set,
    face_sets,
    guardian,
    headlines,
    marks,
    topic_numbers,
    with_outliers,
    with_topics,
)
from dpmf_core.papers.saha_2022.units import TABLE_4
from dpmf_core.runs.inspection import shared_words

UCI = {
    at: 0.9996000 + last * 1e-7
    for at, last in zip(TABLE_3, (975, 895, 849, 836, 832, 839), strict=True)
}
UCI_PLAIN = 0.9996816
GUARDIAN = dict(zip(TABLE_3, (0.4511, 0.4529, 0.4535, 0.4547, 0.4543, 0.4540), strict=True))
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
EVERY_SET = f"{DOCUMENT_SETS}, {FACE_SETS}"
BOTH_LEVELS = (0.5, 0.9)
LEFT_OPEN = (
    "The paper prints neither the number of steps nor the learning rate of W, but its ratio to that"
    " of H, and refers to another paper for the rest; ours are 100 steps and 0.2."
)


def _start() -> Clause:
    return less(
        Median(PRIVATE, 0.9),
        Median(RANDOM, 0.9),
        "a start from NNDSVD ends with a lower objective than a random one",
    ).quoting(
        "section 4.1", "we found that it performs better than random initialization in minimizing"
    )


def _more_epochs() -> Clause:
    return larger(
        Median(PRIVATE),
        Median(QUIET),
        "the private method takes more steps to its lowest objective than without noise",
    ).quoting(
        "section 5",
        "the private mechanism needs more epochs to reach the optimum loss point because we have to"
        " use a smaller step size in private learning. Also, adding noise",
    )


LEARNING = (
    Claim(
        id="saha-fig2",
        title="Objective by step, documents",
        source=f"{S22}, Fig. 2",
        left_open=LEFT_OPEN,
        page="topics",
        words="ε is for each of two statistics in each step.",
        sweeps=by_epsilon(documents, BOTH_LEVELS),
        clauses=gap_clauses(BOTH_LEVELS, LITTLE, NARROWER),
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
        left_open=LEFT_OPEN,
        page="topics",
        words="Every step costs again: the upper axis shows the cost of all steps. The source"
        " takes these values after reaching the optimum, and states that the gap is small under"
        " some parameter regime (abstract).",
        sweeps=by_epsilon(documents, PER_STEP),
        clauses=gap_clauses(PER_STEP, SMALL, NARROWER),
        remark=remark_on_documents,
        source_ids=DOCUMENTS,
        source_data=DOCUMENT_SETS,
        metric="objective",
        by_data=True,
    ),
    Claim(
        id="saha-fig5",
        title="Objective by step, faces",
        source=f"{S22}, Fig. 5",
        left_open=LEFT_OPEN,
        page="faces",
        words="ε is for each of two statistics in each step.",
        sweeps=by_epsilon(face_sets, BOTH_LEVELS),
        clauses=gap_clauses(BOTH_LEVELS, FACES_NARROWER, FACES_NARROWER),
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
        left_open=LEFT_OPEN,
        page="faces",
        words="Every step costs again: the upper axis shows the cost of all steps. The source"
        " takes these values after reaching the optimum.",
        sweeps=by_epsilon(face_sets, PER_STEP),
        clauses=gap_clauses(PER_STEP, SMALL, FACES_NARROWER),
        remark=remark_on_faces,
        source_ids=FACES,
        source_data=FACE_SETS,
        metric="objective",
        by_data=True,
    ),
    Claim(
        id="saha-start",
        title="NNDSVD compared with a random start",
        source=f"{S22}, section 4.1",
        left_open=LEFT_OPEN,
        page="papers",
        words="The objective at ε = 0.9 a step, by the start. No ε covers the first one.",
        sweeps=by_epsilon(every_set, BOTH_LEVELS),
        clauses=(on_each("data", _start()),),
        source_ids=(*DOCUMENTS, *FACES),
        source_data=EVERY_SET,
        metric="objective",
        by_data=True,
    ),
    Claim(
        id="saha-epochs",
        title="Steps to the lowest objective, with and without privacy",
        source=f"{S22}, section 5",
        left_open=LEFT_OPEN,
        page="papers",
        words="The steps until the objective is within 1% of its fall to the lowest value, at ε ="
        " 0.5 a step. Without noise, each step solves for the components.",
        sweeps=beside_quiet_steps,
        measure=epochs,
        clauses=(on_each("data", _more_epochs()),),
        source_ids=(*DOCUMENTS, *FACES),
        source_data=EVERY_SET,
        metric="objective",
        by_data=True,
    ),
    Claim(
        id="saha-images",
        title="The cost of privacy for images and documents",
        source=f"{S22}, section 5",
        left_open=LEFT_OPEN,
        page="papers",
        words="The relative increase of the objective through privacy, at ε = 0.5 a step.",
        sweeps=by_epsilon(every_set, BOTH_LEVELS),
        clauses=(
            images_cost_more().quoting(
                "section 5",
                "the performance of the image data set is more sensitive to privacy noise compared"
                " to the text data set",
            ),
        ),
        source_ids=(*DOCUMENTS, *FACES),
        source_data=EVERY_SET,
        metric="objective",
        by_data=True,
    ),
)

TOPICS = (
    Claim(
        id="saha-fig4",
        title="Topics as words, private and non-private",
        source=f"{S22}, Fig. 4",
        left_open=LEFT_OPEN,
        page="topics",
        words="How many of the top ten words a topic shares with its partner.",
        sweeps=by_epsilon(with_topics, PER_STEP),
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
                ).quoting(
                    "section 4.2, Fig. 4",
                    "The topic word distribution looks almost similar for private and non-private"
                    " mechanism",
                ),
            ),
        ),
        remark=remark_on_words,
        source_ids=("guardian", "uci-news"),
        source_data="Guardian news articles and the UCI News Aggregator",
        metric="objective",
        by_data=True,
    ),
    Claim(
        id="saha-table3",
        title="Coherence against the ε of a step, Guardian",
        source=f"{S22}, Table 3",
        left_open=LEFT_OPEN,
        page="topics",
        words="TC-W2V of a topic's top ten words.",
        sweeps=by_epsilon(guardian, TABLE_3),
        clauses=(
            rises("coherence increases with the ε of a step", PRIVATE, "epsilon").quoting(
                "section 4.2, Table 3",
                "topic coherence score increases with increasing the privacy budget",
            ),
            near(
                "privacy at 0.5 a step costs 3% of it", coherence_cost, 0.4511 / 0.4658, 0.03
            ).quoting("Table 3", "0.5 [...] 0.4511 [...] Non-Private [...] 0.4658"),
            close([Median(PRIVATE, 0.999)], Median(PLAIN), 0.03).quoting(
                "section 4.2, Fig. 4", "the high similarity of coherence scores (Table 3)"
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
        left_open=LEFT_OPEN,
        page="topics",
        words="93 words for seven topics of ten: too few to distinguish good topics from bad ones.",
        sweeps=by_epsilon(headlines, TABLE_3, K=7),
        clauses=(
            near("without privacy it is 0.9997", Median(PLAIN), UCI_PLAIN, 0.01).quoting(
                "Table 3", "Non-Private [...] 0.9996816"
            ),
            between(
                "all scores, with privacy and without, are within 1% of each other",
                spread,
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
        marks=marks(PRIVATE, "Table 3, UCI", *UCI.items())
        + marks(PLAIN, "Table 3, UCI, without privacy", (None, UCI_PLAIN)),
    ),
    Claim(
        id="saha-fig10",
        title="Coherence against the number of topics",
        source=f"{S22}, Fig. 10",
        left_open=LEFT_OPEN,
        page="topics",
        words="Without privacy; the source says that its figure suggests 8 topics.",
        sweeps=topic_numbers,
        clauses=(
            eight_topics().quoting(
                "Appendix A.4, Fig. 10", "This figure suggests selecting [...] as the topic number"
            ),
        ),
        source_ids=("guardian",),
        source_data="Guardian news articles",
        axis="n_components",
        metric="coherence",
    ),
)

ROUGHNESS = (
    "Noise in a picture is measured by the squared difference of neighbouring pixels, as a share of"
    " the mean square."
)
PARTS = (
    Claim(
        id="saha-fig7",
        title="Parts of clean faces, private and non-private",
        source=f"{S22}, Fig. 7",
        left_open=LEFT_OPEN,
        page="faces",
        words=f"{ROUGHNESS} Whether a face can be recognised is left to the reader.",
        sweeps=by_epsilon(face_sets, (0.5,)),
        measure=roughness,
        clauses=(
            on_each(
                "data",
                larger(
                    Median(PRIVATE, 0.5),
                    Median(PLAIN),
                    "at ε = 0.5 a step the parts are noisier than without privacy",
                ).quoting(
                    "section 4.3, Fig. 7",
                    "the facial features are noisy compared to the non-privacy mechanism",
                ),
            ),
        ),
        source_ids=FACES,
        source_data=FACE_SETS,
        metric="objective",
        by_data=True,
    ),
    Claim(
        id="saha-fig8",
        title="Parts of faces with planted outliers",
        source=f"{S22}, Fig. 8",
        left_open=LEFT_OPEN,
        page="faces",
        words=(
            f"A tenth of the images, seven tenths of their pixels, here at ε = 0.5 a step."
            f" {ROUGHNESS}"
        ),
        sweeps=with_outliers,
        measure=roughness,
        clauses=(
            on_each(
                "data",
                larger(
                    Median(SET_APART, 0.5),
                    Median(PRIVATE, 0.5),
                    "with outliers planted and set apart the private parts are noisier than"
                    " those of clean faces",
                ).quoting(
                    "section 4.3, Fig. 8",
                    "the basic representation of Fig. 8d is more noisy compared to the Fig. 7b",
                ),
            ),
        ),
        source_ids=("yaleb",),
        source_data="Extended Yale B (K 38)",
        metric="objective",
        by_data=True,
    ),
)

CLAIMS = (*LEARNING, *TOPICS, TABLE_4, *PARTS)
