"""What was published of real uses of differential privacy, for comparison.

Their units, periods and places of noise differ, so their epsilons cannot be compared one to one.
"""

from dataclasses import dataclass

from dpmf_core.registry import by_id


@dataclass(frozen=True)
class Deployment:
    """One use, as its publisher describes it.

    delta: 0 for pure differential privacy. unit: what the promise is about. relation: how
    neighbours differ, where that is said. period: how long the epsilon is for. address: of the
    source.
    """

    id: str
    name: str
    epsilon: float
    delta: float
    unit: str
    relation: str
    period: str
    year: int
    source: str
    address: str


NOT_SAID = "not said in the source's summary"

DEPLOYMENTS = by_id(
    (
        Deployment(
            "facebook-urls",
            "Facebook URLs",
            0.45,
            1e-5,
            "one kind of action, views say, of a user; set so that 99% of users have it",
            NOT_SAID,
            "the whole data set, for each kind of action",
            2020,
            "Messing et al., Facebook Privacy-Protected Full URLs Data Set; Desfontaines, A list of"
            " real-world uses",
            "https://desfontain.es/blog/real-world-differential-privacy.html",
        ),
        Deployment(
            "wikipedia",
            "Wikipedia page views",
            1.0,
            1e-7,
            "the first ten pages that a device opens in a day",
            NOT_SAID,
            "each day anew (published as ρ = 0.015, “roughly” this ε)",
            2023,
            "Wikimedia Foundation, Pageviews Differential Privacy",
            "https://analytics.wikimedia.org/published/datasets/country_project_page/00_README.html",
        ),
        Deployment(
            "apple-emoji",
            "Apple emoji",
            4.0,
            0.0,
            "what one device sends; noise is added on the device, so Apple is not trusted",
            "any other message in its place",
            "each day anew",
            2017,
            "Apple, Differential Privacy Overview; Desfontaines, A list of real-world uses",
            "https://desfontain.es/blog/real-world-differential-privacy.html",
        ),
        Deployment(
            "israel-births",
            "Israel's births",
            9.98,
            0.0,
            "one birth: a mother and her child",
            NOT_SAID,
            "once, for all births of 2014",
            2024,
            "Hod & Canetti, Differentially Private Release of Israel's National Registry of Live"
            " Births",
            "https://arxiv.org/abs/2405.00267",
        ),
        Deployment(
            "us-census",
            "US Census 2020",
            19.61,
            1e-10,
            "one person (17.14) and one housing unit (2.47)",
            NOT_SAID,
            "once, for the redistricting data",
            2021,
            "Abowd et al., The 2020 Census Disclosure Avoidance System TopDown Algorithm, Harvard"
            " Data Science Review, 2022",
            "https://hdsr.mitpress.mit.edu/pub/7evz361i",
        ),
        Deployment(
            "linkedin",
            "LinkedIn audiences",
            34.9,
            7e-9,
            "all that one member does",
            NOT_SAID,
            "a month",
            2020,
            "Rogers et al., LinkedIn's Audience Engagements API",
            "https://arxiv.org/abs/2002.05839",
        ),
    )
)
