"""The dashboard: `python app.py`, with the options of `streamlit run`.

The script that runs for every page is in `pages/kit`. Next to a folder named `pages`, a cold server
would answer the first deep link with "Page not found", because it looks for scripts there before
any navigation is declared.
"""

import sys
import warnings

from dpmf_core.base import interrupts

if __name__ == "__main__":
    interrupts.exit_at_once()  # before anything large is imported
    import click
    from streamlit.web import cli

    def serve() -> int:
        try:
            cli.main(
                ["run", __file__, *sys.argv[1:]],
                prog_name="python app.py",
                standalone_mode=False,
            )
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except click.Abort:
            raise KeyboardInterrupt from None  # click has converted it
        return 0

    # Ctrl-C just before uvicorn's coroutine starts is no error
    warnings.filterwarnings(
        "ignore", "coroutine 'Server.serve' was never awaited", RuntimeWarning
    )
    sys.exit(interrupts.exit_code_of(serve))

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from dpmf_core.base import isolation
from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import data_folder, usable
from dpmf_core.base.settings import settings

try:
    isolation.hide_memory()
    usable(data_folder())
    settings()
    from pages.kit.base.page_table import SECTIONS, page_address
    from pages.server import upload_quota
    from pages.server.doors import HostGuard, login_described, most_streams, names
    from pages.server.lifespan import lifespan
    from pages.server.login import LoginGate
    from pages.server.page_addresses import Addresses, routes

    base = st.get_option("server.baseUrlPath") or ""
    guards = [
        Middleware(
            HostGuard, names=names(), now=settings(), most_streams=most_streams()
        ),
        Middleware(LoginGate, required=login_described(), base=base),
    ]
except BadInput as error:
    print(error, file=sys.stderr)
    sys.exit(2)

app = st.App(
    Path(__file__).parent / "pages/kit/navigation.py",
    middleware=[
        *guards,
        Middleware(Addresses, page_address, base),
        Middleware(upload_quota.UploadGuard),
    ],
    lifespan=lifespan,
    routes=routes(SECTIONS, base),
)
