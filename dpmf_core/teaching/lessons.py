"""All lessons in the order of the course: each uses what those before it said."""

from dpmf_core.registry import by_id
from dpmf_core.teaching import lessons_on_noise as noise
from dpmf_core.teaching import lessons_on_people as people
from dpmf_core.teaching.course import Lesson

LESSONS: dict[str, Lesson] = by_id(
    (
        people.LINKAGE,
        people.NEIGHBOURS,
        noise.RESPONSE,
        noise.LOCAL,
        noise.CLIPPING,
        noise.COMPOSITION,
        noise.POSTPROCESSING,
        people.GROUP,
        people.JOINT,
        people.ATTACKER,
        noise.PRICE,
    )
)
