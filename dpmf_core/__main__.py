"""`python -m dpmf_core`, as commands of earlier versions have it: `python -m dpmf`."""

import runpy

if __name__ == "__main__":
    runpy.run_module("dpmf", run_name="__main__")
