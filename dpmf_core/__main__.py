"""`python -m dpmf_core`: the same jobs without a page."""

import sys

from dpmf_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
