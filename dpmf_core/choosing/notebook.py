"""An answer as a Jupyter notebook that finds it again, and then trains it.

It holds the question, what was answered, and code: no figure of private rows.
"""

from dpmf_core.choosing import wording
from dpmf_core.choosing.finding import Finding
from dpmf_core.runs.notebooks import INSTALL, as_json, code, words

TABLE = """import pandas as pd

pd.DataFrame(
    [
        {
            "epsilon": place.epsilon,
            "method": place.title,
            question.metric: place.value,
            "gain kept": place.share,
        }
        for place in answer.places
    ]
).sort_values(["epsilon", question.metric])"""


def notebook(finding: Finding) -> str:
    """The notebook as JSON. Its cells run as they are, where the package is installed."""
    paragraphs = [f"# {finding.headline}", *wording.sentences(finding.answer)]
    cells = [
        words("\n\n".join([*paragraphs, finding.cost])),
        code(INSTALL),
        code(_question(finding)),
        code(
            "from dpmf_core.choosing import wording\n"
            "from dpmf_core.choosing.asking import ask\n\n"
            "answer = ask(question)\n"
            "print(wording.headline(answer))\n"
            'print("\\n".join(wording.sentences(answer)))'
        ),
        code(TABLE),
    ]
    if finding.train:
        cells += [words(f"## Train it\n\n{finding.training}"), code(_training(finding))]
    return as_json(cells)


def _question(finding: Finding) -> str:
    fields = finding.question.model_dump(mode="json", exclude_defaults=True)
    lines = "".join(f"    {name}={value!r},\n" for name, value in fields.items())
    return (
        "from dpmf_core.choosing.question import Question\n\n"
        f"question = Question.parse(\n{lines})\nquestion"
    )


def _training(finding: Finding) -> str:
    """Of private data only where the file is there: training enters its account."""
    best, question = finding.answer.best, finding.question
    assert best is not None  # `finding.train`
    call = (
        f"run = dpmf_core.fit(\n        data,\n        {finding.method!r},\n"
        f"        epsilon={question.of_one(best.epsilon)!r},\n        delta={question.delta!r},\n"
        f"        relation={question.relation.value!r},\n    )\n"
        "    print(run.record.guarantee.words)"
    )
    if finding.public:
        return f"import dpmf_core\n\nfor data in [{finding.path!r}]:\n    {call}"
    return (
        "from pathlib import Path\n\nimport dpmf_core\n\n"
        f"data = {finding.path!r}  # your file, with what is declared of it\n"
        'if Path(data.partition("?")[0]).is_file():\n'
        f"    {call}\nelse:\n"
        '    print("Put the file there, then run this cell: training enters its account.")'
    )
