"""Lessons about people: what identifies them, what is promised to them, and to how many of them at
once.
"""

from dpmf_core.teaching.course import Lesson, Part

LINKAGE = Lesson(
    "found",
    "You are found",
    "A table without names is not a table without people. Whoever knows a little about you can find"
    " your row in it, and with your row everything else.",
    (
        Part(
            "linking",
            "Two sites, one person",
            "A film site publishes what its 2,000 viewers watched and on which day, with numbers in"
            " place of names. On another site some of them write about a few of these films, under"
            " their names. All of them are invented.",
            "What is the smallest number of films, each with its day to within three days, that"
            " finds the rows of more than nine in ten of them?",
            ("2", "10", "30"),
            0,
            "A film and a day leave about six rows, two films and their days almost always one."
            " What you watched is as good as a name.",
            "Make the days less exact. How many films does it take then? And if only the films are"
            " known?",
        ),
        Part(
            "exact sums",
            "Only sums, and still found",
            "So a film club publishes sums alone: how many of its members saw each of twelve films."
            " Then you join, and it publishes them again. The attacker knows the sums of before.",
            "What do the new sums tell the attacker about you?",
            (
                "Nothing: sums name nobody",
                "That somebody joined, but not what you saw",
                "That somebody joined, and every film that you saw",
            ),
            2,
            "The sums of today less the sums of before are your row, film by film. A sum hides you"
            " only from those who do not know the rest of it.",
            "Choose other films. Can you choose any so that the attacker does not see them?",
        ),
        Part(
            "noisy sums",
            "The same sums with noise",
            "Now the club adds noise to each sum, so much that all of them together have ε = 1"
            " (δ = 1e-5). The attacker still knows all the others.",
            "An attacker would guess right in 50 of 100 cases by tossing a coin. In how many is the"
            " best attacker right now about whether you joined?",
            ("about 55", "about 73", "about 99"),
            0,
            "Whoever saw all twelve films is told apart in 55 of 100 cases, everybody else in"
            " fewer, and no computer changes that. 73 in 100 is what ε = 1 alone would allow at"
            " most; this noise stays below it.",
            "Draw the noise again a few times, then raise ε. From where on would you believe what"
            " you see?",
        ),
    ),
    "Why does it not help to leave out the names, and what does noise change about that?",
    "What a person did is itself enough to find her, with or without a name: someone always knows a"
    " part of it. Noise is different. It is large enough that what is published would look almost"
    " the same without her, so there is little to be found, whatever the attacker already knows.",
)
NEIGHBOURS = Lesson(
    "neighbours",
    "What is a neighbour?",
    "Two data sets are neighbours when they differ by one person: you. Privacy means that what"
    " is published looks almost the same for both.",
    (
        Part(
            "neighbours",
            "With you and without you",
            "Fifty people rated a film from 1 to 5, and the sum of their ratings is published with"
            " noise. Then you come and give it a 5.",
            "At which ε can an attacker who sees the sum hardly tell whether you took part?",
            ("0.1", "10"),
            0,
            "At 0.1 the two curves nearly coincide: no sum is much more likely with you than"
            " without. At 10 they stand apart, and most sums give you away.",
            "Move ε from 0.1 to 10. Where do the curves begin to come apart?",
        ),
    ),
    "Explain to somebody who has not seen the figure what a small ε promises you.",
    "Whatever is published would have come out almost as likely if I had not taken part. So nobody"
    " can tell from it whether I did, and nothing in it can be held against me.",
)
GROUP = Lesson(
    "group",
    "One photograph, or one person?",
    "ε speaks of one privacy unit. Where that is a photograph, and you are on many, group"
    " privacy is what is left for you: soon next to nothing.",
    (
        Part(
            "group",
            "Many photographs of you",
            "A method is trained on photographs, and its noise is set for one of them. You are on"
            " more than one.",
            "A method promises ε = 1 a photograph, and 64 are of you. What does it promise to you?",
            ("1, as stated", "64", "about 219"),
            2,
            "All 64 together move every sum 64 times as far beside the same noise. ε grows faster"
            " than their number: 219 is no protection. So the person should be the unit: what all"
            " her photographs contribute is cut to the length of one.",
            "Lower ε to 0.1 a photograph. Does that protect somebody who is on 64 of them?",
        ),
    ),
    "A report says “ε = 1”. Which question do you ask before you believe that it protects you?",
    "What is the unit: one rating, one photograph, one day, or one person? I am in the data as"
    " often as I have units, and my own ε grows faster than their number.",
)
JOINT = Lesson(
    "joint",
    "Who sees what?",
    "Your recommendations may use your own ratings without noise: nobody but you sees them."
    " Only what others see needs noise.",
    (
        Part(
            "joint",
            "Four who look",
            "A recommender learns factors of films from everybody and a factor of yours from your"
            " own ratings. Both make your list.",
            "Why does your own factor carry no noise?",
            (
                "It is computed from your own row and shown to you alone",
                "It is too small to matter",
                "It is averaged",
            ),
            0,
            "That is joint differential privacy: everything that reaches others passes through the"
            " noisy release; your view is computed from it and your own row.",
            "Choose each of the four in turn. Who is protected from whom, and from whom not?",
        ),
    ),
    "From whom does joint differential privacy not protect you?",
    "From the curator, who sees all ratings, and from whoever looks over my shoulder: my own list"
    " is computed from my own ratings without noise.",
)
ATTACKER = Lesson(
    "attacker",
    "What does ε buy an attacker?",
    "ε bounds how far the odds of a suspicion may move: by a factor of e^ε, whatever the attacker"
    " knows or computes, with rare exceptions that δ limits.",
    (
        Part(
            "attacker",
            "Before and after",
            "Somebody suspects that you took part. She sees what is published and thinks again.",
            "At ε = 1, even odds that you took part may become at most about ...",
            ("52%", "73%", "99%"),
            1,
            "e / (1 + e) is 73%. At ε = 5 it would be 99%.",
            "Between which two marks of ε does an even suspicion pass nine in ten?",
        ),
    ),
    "Somebody says “ε = 5 is fine, it is only a five”. What do you answer?",
    "ε stands in an exponent. At 5 odds may grow by e⁵, about 148 times: an even suspicion may"
    " become 99%. Each step of 1 multiplies the odds by 2.7.",
)
