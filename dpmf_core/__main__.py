"""`dpmf`, or `python -m dpmf_core`: the same jobs without a page."""

import sys

from dpmf_core.base import interrupts


def start() -> int:
    """Load the commands and run one; the exit code."""
    interrupts.exit_at_once()  # before anything large is imported
    from dpmf_core.base.errors import BadInput

    try:
        from dpmf_core.cli import main
    except BadInput as error:  # the data folder takes nothing
        print(error, file=sys.stderr)
        return 2
    return interrupts.exit_code_of(main)


if __name__ == "__main__":
    sys.exit(start())
