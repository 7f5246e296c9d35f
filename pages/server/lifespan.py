"""What this server tells its operator, on the page and through the socket, and what she does to
it.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Any

import streamlit as st

from dpmf_core.administration import control_socket
from dpmf_core.administration.overview import Overview, overview, stop
from dpmf_core.engine.executor import engine
from dpmf_core.errors import BadInput
from pages.server import housekeeping, sessions, upload_quota, warming


def now() -> Overview:
    return overview(engine(), sessions.registry.visits(), upload_quota.uploaded_in_all())


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """To the operator's socket. Raises BadInput."""
    if question["do"] == "show":
        return now().facts
    if question["do"] == "stop":
        return {"stopped": stop(engine(), str(question["run"]))}
    raise BadInput(
        "This server knows `show` and `stop` alone. Use the same version of dpmf as the server."
    )


@contextlib.asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[None]:
    """While the server runs its caretaker is at work, idle workers compute what pages show first,
    sessions that go are seen off, and its operator's door is open.
    """
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(housekeeping.watching())
        await stack.enter_async_context(warming.going())
        stack.callback(asyncio.create_task(sessions.watch()).cancel)
        try:
            stack.enter_context(control_socket.door(answer))
        except OSError as error:
            logging.getLogger(__name__).warning(
                "The operator's socket in %s cannot be opened (%s): `admin` will not find this"
                " server.",
                control_socket.folder(),
                error,
            )
        yield
