"""What tests read of the Markdown files: their headings, links and blocks of code."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "deploy").glob("*.md")]
)


def headings(path: Path) -> list[str]:
    """The headings of a document, without those inside blocks of code."""
    text = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.M | re.S)
    return re.findall(r"^#+ (.+)$", text, re.M)


def anchor(heading: str) -> str:
    """The name under which GitHub links a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def links(path: Path) -> list[tuple[str, str]]:
    """(file, anchor) of every link to a file of the repository or to a heading."""
    text = re.sub(r"`[^`]*`", "", path.read_text("utf-8"))
    return re.findall(r"\]\((?!\w+:)([^)#\s]*)#?([^)\s]*)\)", text)


def blocks(path: Path, kind: str) -> list[str]:
    """The blocks of code of a kind, in order."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", path.read_text("utf-8"), re.M | re.S)
