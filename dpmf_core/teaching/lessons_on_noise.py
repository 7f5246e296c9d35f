"""Lessons about noise: who adds it, how much, what it adds up to, what may be done afterwards, and
who pays.
"""

from dpmf_core.teaching.course import Lesson, Part

RESPONSE = Lesson(
    "response",
    "Two coins",
    "The oldest private method needs no computer: everybody lies with a known probability. One"
    " answer says little, many together say a lot.",
    (
        Part(
            "response",
            "Randomised response",
            "You are asked something you would rather not say. You toss a coin: heads, and you tell"
            " the truth; tails, and you toss again and let the second coin answer. So your answer"
            " is true with probability 3/4.",
            "What is the ε of your answer?",
            ("0.5", "about 1.1", "3"),
            1,
            "A yes is three times as likely from somebody who would say yes (3/4) as from somebody"
            " who would not (1/4), and ε is the logarithm of that: ln 3 = 1.1, with δ = 0.",
            "Ask more people. How many does it take until the estimate is off by 2 points in 100,"
            " typically?",
        ),
    ),
    "Why can nobody hold a “yes” against you, although the share of yes in the crowd is known?",
    "My yes may have come from the second coin, and nobody can tell which it was. In the crowd the"
    " lies are as many as expected, so they can be subtracted; in one answer they cannot.",
)
LOCAL = Lesson(
    "local",
    "Whom do you trust?",
    "Somebody may collect your data and add noise to the sum (central), or you add noise yourself"
    " before anything leaves you (local). The second needs no trust, and far more people.",
    (
        Part(
            "local",
            "The same ε, with and without a curator",
            "Everybody rates a film from 1 to 5, and the mean is published at the same ε, once by a"
            " curator who adds noise to the sum, once from ratings to which everybody adds noise.",
            "10,000 people take part. How many times larger is the error without a curator?",
            ("10 times", "100 times", "10,000 times"),
            1,
            "Noise on one sum is divided by n. Noise on n ratings partly cancels and is divided by"
            " √n alone. So the error is √n times larger: 100 times for 10,000 people.",
            "How many people does the local mean need to be as good as the curator's with 100?",
        ),
        Part(
            "blocks",
            "One server, 20 hospitals, 2,000 phones",
            "2,000 people's ratings make a recommender. They may lie on one server, in 20 hospitals"
            " or on everybody's own phone. All that is wanted is a noisy sum: each block adds up"
            " what its people send and adds its share of the noise. The result is the same one.",
            "The sum costs ε = 1. What does one phone's part, read alone, tell of its owner?",
            ("ε = 1", "about ε = 10", "more than ε = 100"),
            2,
            "Each phone adds a 2,000th of the variance. Beside so little noise a part is nearly"
            " bare: ε = 122. So either the server can read the sum alone, which is called secure"
            " aggregation, or everybody adds far more noise.",
            "Let the server read the sum alone. Whom do you still have to trust, and with what?",
        ),
    ),
    "When would you choose the local way all the same?",
    "Where nobody can be trusted with the data, or nobody wants to be: what was never collected"
    " cannot be stolen, lost or subpoenaed. It suits simple statistics of very many people.",
)
CLIPPING = Lesson(
    "clipping",
    "How much noise, and on what?",
    "Noise must hide the person who sends most. So everyone's row is first shortened to a"
    " length C; the noise grows with C.",
    (
        Part(
            "clipping",
            "A valley",
            "Everybody's row of ratings is shortened to length C, added up and published with noise"
            " in proportion to C.",
            "The error is smallest where ...",
            (
                "nobody is shortened",
                "some people are shortened, and noise is smaller",
                "everyone is shortened to almost nothing",
            ),
            1,
            "Too high a C pays noise for people who hardly exist; too low a C throws away what"
            " people say. The valley lies between.",
            "Find the bottom of the valley. How many people are shortened there?",
        ),
    ),
    "Why must rows be shortened at all before noise can protect anybody?",
    "Noise hides a contribution only if it is large beside it. Without a limit one person could"
    " contribute anything, and no amount of noise would be enough.",
)
COMPOSITION = Lesson(
    "composition",
    "What do steps add up to?",
    "Every look at the data costs. A paper that names the ε of one step has not named its"
    " price: what counts is the total.",
    (
        Part(
            "composition",
            "A hundred looks",
            "A method looks at the data in every step, and adds noise to each look. All of it is"
            " published.",
            "A method makes 100 steps and says “ε = 0.5”, of each step. What does it cost?",
            ("0.5", "about 7", "50"),
            1,
            "Exactly composed, 100 Gaussian releases of 0.5 each cost about 7 at δ = 1e-5: far more"
            " than 0.5, far less than 50.",
            "How many steps can you afford if the total must stay below 2?",
        ),
    ),
    "Why is the total less than the sum, and why is it not the ε of one step?",
    "Each look tells something new, so the cost grows. But to add the ε assumes that every look"
    " goes against me as far as it can. Noise in one look is as likely to mislead as to help, so"
    " the total grows with the root of their number at first.",
)
POSTPROCESSING = Lesson(
    "postprocessing",
    "What may be done afterwards?",
    "Once something is published with its noise, whatever is computed from it costs nothing more."
    " It may become better, and it cannot become less private.",
    (
        Part(
            "postprocessing",
            "Tidying up",
            "Fifty people gave a film one to five stars. The five counts are published with noise;"
            " some come out negative or broken.",
            "The counts are then rounded, what is below zero is set to zero, and all are scaled."
            " What does that add to ε?",
            ("nothing", "a little for each step", "it doubles ε"),
            0,
            "None of these steps looks at the people again: an attacker could take them herself. So"
            " ε stays. The error can fall, for a count below zero is certainly wrong.",
            "Take each step at a small ε and at a large one. Which helps, and when?",
        ),
    ),
    "Somebody compares the noisy counts with the true ones and corrects the worst of them. Is that"
    " post-processing?",
    "No. The correction looks at the people again, so it tells something about them that the noise"
    " had hidden. It is a second release and must be paid for.",
)
PRICE = Lesson(
    "price",
    "Who pays?",
    "Noise costs accuracy, and not everyone alike: what many have in common survives it, detail"
    " drowns. Compare private ALS with ALS without privacy.",
    (
        Part(
            "price",
            "Four groups of people",
            "2,000 invented people rated films, some a few and some very many. A recommender is"
            " trained with privacy and without.",
            "Who loses most to the noise, compared with ALS without privacy?",
            ("people who rated little", "people who rated much"),
            1,
            "Without privacy ALS knows busy people best, and that detail is what noise blurs. Who"
            " rated little is predicted mostly by what all have in common.",
            "At which ε is private ALS better than each user's own mean in every group?",
        ),
    ),
    "You run a film site. Whom would you tell what about the price of privacy?",
    "The busiest people, for they lose most: their lists become more like everybody's. Newcomers"
    " lose little, because little is known of them anyway.",
)
