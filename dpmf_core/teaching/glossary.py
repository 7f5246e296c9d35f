"""The words of the app, each with a formula and a source."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True)
class Term:
    """formula: LaTeX. also: how texts say it otherwise."""

    name: str
    words: str
    formula: str
    source: str
    also: tuple[str, ...] = ()


DR14 = "Dwork & Roth, The Algorithmic Foundations of Differential Privacy, 2014"
_TERMS = (
    Term(
        "differential privacy",
        "A promise about a procedure, not about data: whatever it may put out is almost as likely"
        " without you as with you.",
        r"\Pr[M(D)\in S]\le e^{\varepsilon}\,\Pr[M(D')\in S]+\delta",
        DR14,
    ),
    Term(
        "epsilon",
        "The privacy loss. When you join or leave, the probability of every set of results changes"
        " by a factor of at most e^ε, up to a slack of delta. Here ε is the total of a run.",
        r"\Pr[M(D)\in S]\le e^{\varepsilon}\,\Pr[M(D')\in S]+\delta",
        DR14,
    ),
    Term(
        "delta",
        "The slack of the bound: it holds for every set of results up to δ. It is not the"
        " probability that the bound fails, which can be many times larger. Keep δ well below one"
        " over the number of people: a larger δ could allow publishing a person's whole row.",
        r"\delta(\varepsilon)=\sup_S\,\Pr[M(D)\in S]-e^{\varepsilon}\,\Pr[M(D')\in S],"
        r"\quad\delta\ll 1/n",
        DR14,
        also=("δ",),
    ),
    Term(
        "neighbouring relation",
        "Which data sets count as one person apart: she is added or removed, or replaced by"
        " somebody else. Replacing moves a sum up to twice as far.",
        r"D'=D\cup\{x\}\quad\text{or}\quad D'=(D\setminus\{x\})\cup\{y\}",
        DR14,
        also=("add/remove", "add-or-remove", "replace-one", "neighbours"),
    ),
    Term(
        "privacy unit",
        "What one step between neighbours changes: a user's whole row, a document, an image; or,"
        " weaker, a single rating.",
        r"\text{user}\supset\text{rating}\supset\text{value of a rating}",
        "Chien et al., Private Alternating Least Squares, ICML 2021, section 2",
    ),
    Term(
        "group privacy",
        "What the promise is worth to somebody who has several units in the data, 64 photographs"
        " say: noise that hides one of them hides less of all.",
        r"\mu_k=k\,\mu,\qquad\varepsilon_k\ge k\,\varepsilon",
        "Dong, Roth & Su, Gaussian Differential Privacy, JRSS B 2022, section 2.5",
        also=("several rows of one person",),
    ),
    Term(
        "partition selection",
        "Which items or words there are is private too: a film that you alone rated gives you away"
        " by its name. Names are shown where a noisy count passes a threshold, so high that a name"
        " of yours alone shows with a small probability, which is a part of delta.",
        r"\tilde c_j=c_j+\mathcal N(0,\sigma^2)>T",
        "Gopi, Gulhane, Kulkarni, Shen, Shokouhi & Yekhanin, Differentially Private Set Union, ICML"
        " 2020",
        also=("thresholded Gaussian", "differentially private set union"),
    ),
    Term(
        "joint differential privacy",
        "What you are shown may use your own row without noise; what everybody else is shown must"
        " hide it. Hence a user's own factor needs none.",
        r"M(D)_{-i}\approx_{\varepsilon,\delta}M(D')_{-i}",
        "Kearns, Pai, Roth & Ullman, Mechanism Design in Large Games, ITCS 2014",
        also=("joint privacy",),
    ),
    Term(
        "sensitivity",
        "By how much, at most, one unit moves a statistic. Noise is measured in it.",
        r"\Delta=\max_{D\sim D'}\lVert f(D)-f(D')\rVert_2",
        DR14,
    ),
    Term(
        "clipping",
        "Shortening what one person sends to a length that is fixed beforehand. It makes the"
        " sensitivity known, and costs those who send more.",
        r"\mathrm{clip}(x)=x\cdot\min(1,\,C/\lVert x\rVert_2)",
        "Abadi et al., Deep Learning with Differential Privacy, CCS 2016",
        also=("clipped", "cut off", "shortened"),
    ),
    Term(
        "clip norm",
        "The length C to which clipping shortens: too low, and people are cut off; too high, and"
        " noise grows with it.",
        r"\Delta=C",
        "Abadi et al. 2016",
    ),
    Term(
        "noise multiplier",
        "The noise's standard deviation over the sensitivity: what an accountant needs to know of a"
        " release.",
        r"z=\sigma/\Delta",
        "Abadi et al. 2016",
    ),
    Term(
        "Gaussian mechanism",
        "Publishing a statistic with normal noise on every number.",
        r"f(D)+\mathcal N(0,\,z^2\Delta^2 I)",
        "Balle & Wang, Improving the Gaussian Mechanism, ICML 2018",
        also=("Gaussian noise", "Gaussian releases", "normal noise"),
    ),
    Term(
        "Laplace mechanism",
        "Publishing with Laplace noise: no δ, but the sensitivity is a sum of absolute changes.",
        r"f(D)+\mathrm{Lap}(\Delta_1/\varepsilon)",
        DR14,
        also=("Laplace noise",),
    ),
    Term(
        "odometer",
        "One account for each private data set, into which everything that is drawn on it enters:"
        " one total, the same everywhere. Read off after results were seen it is no guarantee by"
        " itself; see privacy filter.",
        r"\mu^2=\sum_{\text{all that was drawn}}1/z_i^2",
        "Rogers, Roth, Ullman & Vadhan, Privacy Odometers and Filters, NeurIPS 2016",
    ),
    Term(
        "privacy filter",
        "A budget for a whole data set that holds whatever is chosen next in the light of results:"
        " what would exceed it is refused before it draws.",
        r"\sum_i\mu_i^2\le\mu_B^2",
        "Smith & Thakurta, Fully Adaptive Composition for Gaussian Differential Privacy, 2022",
        also=("budget for everything",),
    ),
    Term(
        "composition",
        "Several releases from the same data cost more than each. Gaussian ones add up exactly: the"
        " squares of 1/z.",
        r"\mu^2=\sum_t 1/z_t^2",
        "Dong, Roth & Su, Gaussian Differential Privacy, JRSS B 2022",
        also=("composed", "compose"),
    ),
    Term(
        "Gaussian differential privacy",
        "The exact promise of Gaussian releases: no attack tells two data sets apart better than"
        " two normals a distance μ apart.",
        r"\beta(\alpha)=\Phi(\Phi^{-1}(1-\alpha)-\mu)",
        "Dong, Roth & Su 2022",
    ),
    Term(
        "trade-off curve",
        "The fewest people an attack must miss, by how often it accuses somebody falsely. All that"
        " a run reveals is in it.",
        r"\beta\ge f(\alpha)",
        "Dong, Roth & Su 2022",
    ),
    Term(
        "Rényi differential privacy",
        "A rule of accounting that adds up well: a bound on a moment of the privacy loss, turned"
        " into ε at the end. Safe, rarely exact.",
        r"D_\alpha(M(D)\Vert M(D'))\le\rho(\alpha)",
        "Mironov, Rényi Differential Privacy, CSF 2017",
        also=("Rényi curve", "Rényi"),
    ),
    Term(
        "zero-concentrated differential privacy",
        "Rényi differential privacy whose bound is a line through 0: one number ρ.",
        r"D_\alpha\le\rho\alpha",
        "Bun & Steinke, TCC 2016",
        also=("zCDP",),
    ),
    Term(
        "ledger",
        "The list of everything a run has released: what, how often, with which noise. Its epsilon"
        " is computed from it alone.",
        r"\{(\text{statistic},z,\text{count})\}",
        "dpmf",
    ),
    Term(
        "post-processing",
        "What is computed from released numbers alone costs nothing more, however long it goes on.",
        r"g\circ M\ \text{is as private as}\ M",
        DR14,
    ),
    Term(
        "Langevin dynamics",
        "Steps up a gradient with noise of the step's own variance; in the long run, and only then,"
        " their states are samples of a posterior. SGLD pays here for the noise of every step, so"
        " its proof needs no long run.",
        r"\theta_{t+1}=\theta_t+\tfrac{\eta}{2}\nabla\log p(\theta_t)+\mathcal N(0,\eta)",
        "Welling & Teh 2011; Wang, Fienberg & Smola 2015",
    ),
    Term(
        "PROVEN, CONDITIONAL, UNPROVEN, NONE",
        "What a card says of a promise: proved as it stands; proved if something named holds;"
        " claimed by a source and not proved; not claimed.",
        r"\varepsilon\ \text{is shown}\iff\text{PROVEN or CONDITIONAL}",
        "dpmf",
    ),
    Term(
        "rank",
        "How many factors describe a person or an item. In private each factor brings noise of its"
        " own.",
        r"Y\approx UV^\top,\quad U\in\mathbb R^{n\times r}",
        "Koren, Bell & Volinsky, Matrix Factorization Techniques for Recommender Systems, 2009",
    ),
    Term(
        "RMSE",
        "Root mean squared error of predicted ratings on ratings that were held out.",
        r"\sqrt{\tfrac1N\sum(\hat y-y)^2}",
        "Koren, Bell & Volinsky 2009",
    ),
    Term(
        "membership inference",
        "An attack that tells whether somebody was in the data. The best one is a likelihood"
        " ratio.",
        r"\log\frac{p(y\mid D')}{p(y\mid D)}>t",
        "Kairouz, Oh & Viswanath, The Composition Theorem for Differential Privacy, ICML 2015",
    ),
    Term(
        "private selection",
        "Trying many settings and showing only the best costs less than showing all, if their"
        " number is drawn at random. Its price follows from one trial's whole trade-off curve.",
        r"K\sim\mathrm{Log},\quad y^\star=\max_{k\le K}y_k",
        "Papernot & Steinke, Hyperparameter Tuning with Rényi Differential Privacy, ICLR 2022;"
        " Koskela, Redberg & Wang, Privacy Profiles for Private Selection, ICML 2024",
    ),
    Term(
        "canary",
        "A person, or a rating, put into half of the trainings of an audit, chosen to move what is"
        " released as far as the rules allow: if an attack can tell which half, that bounds"
        " epsilon. What it lost is how far it moved the releases, in terms of their noise.",
        r"\mu^2=\sum_i\frac{\lVert s_i(D')-s_i(D)\rVert^2}{\sigma_i^2}",
        "Jagielski, Ullman & Oprea, Auditing Differentially Private Machine Learning, NeurIPS 2020",
        also=("canaries",),
    ),
    Term(
        "pair test",
        "One training without the canary, one with it: which is which? How often that can be told"
        " bounds μ, and with it epsilon, for Gaussian releases.",
        r"\Pr[\text{right}]\le\Phi(\mu/\sqrt2)",
        "after Dong, Roth & Su 2022, Thm. 2.10",
    ),
    Term(
        "error rates",
        "How often an attack accuses falsely, and how often it misses. Their upper limits bound"
        " epsilon from below, whatever the noise.",
        r"\varepsilon\ge\ln\frac{1-\delta-\mathrm{FNR}}{\mathrm{FPR}}",
        "Kairouz, Oh & Viswanath 2015; Clopper & Pearson 1934",
    ),
    Term(
        "gain over guessing",
        "How far the error falls below that of guessing the mean. What privacy keeps of it is the"
        " private method's fall over its twin's.",
        r"\frac{e_{\text{guess}}-e_{\text{private}}}{e_{\text{guess}}-e_{\text{twin}}}",
        "Defined here",
    ),
    Term(
        "twin",
        "The same method without privacy, on the same data and split: what the private one is held"
        " against.",
        r"\sigma=0,\;C=\infty",
        "Defined here",
    ),
)
TERMS: dict[str, Term] = {term.name: term for term in _TERMS}


def matching_terms(text: str) -> tuple[Term, ...]:
    """The terms whose name or words hold the text, the nearest first; all where it is empty."""
    places = {term: nearness(text, (term.name, *term.also), term.words) for term in _TERMS}
    return tuple(
        sorted(
            (term for term, place in places.items() if place is not None),
            key=lambda term: places[term] or 0,
        )
    )


def nearness(text: str, names: Sequence[str], words: str) -> int | None:
    """How near something is to what is looked for: 0 by its name, 1 by a word of that, 2 by one
    of its words, 3 by a part of one; None not at all.
    """
    query = text.strip().lower()
    whole = re.compile(rf"(?<!\w){re.escape(query)}(?!\w)")
    name_text, word_text = " ".join(names).lower(), words.lower()
    if not query or query in (name.lower() for name in names):
        return 0
    return (
        1
        if whole.search(name_text)
        else 2
        if whole.search(word_text)
        else 3
        if query in f"{name_text} {word_text}"
        else None
    )


_NAMES = {
    word.lower(): term.name
    for term in _TERMS
    for word in (term.name, *term.also)
    if term.name not in ("epsilon", "RMSE", "rank", "twin", "canary")
}
_WORD = "|".join(re.escape(word) for word in sorted(_NAMES, key=len, reverse=True))
_MENTION = re.compile(
    rf"(\[[^\]]*\]\([^)]*\)|`[^`]*`|\$[^$]*\$)|(?<![\w-])({_WORD})(?![\w-])", re.IGNORECASE
)


def linked(text: str) -> str:
    """Markdown in which each term's first mention leads to its place in the glossary.

    Links, code and formulas stay as they are.
    """
    linked_names: set[str] = set()

    def one(match: re.Match[str]) -> str:
        name = _NAMES.get((match[2] or "").lower())
        if name is None or name in linked_names:
            return match[0]
        linked_names.add(name)
        return f"[{match[2]}](glossary?term={quote(name)})"

    return _MENTION.sub(one, text)
