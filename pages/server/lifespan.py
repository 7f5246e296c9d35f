"""What goes on as long as the server runs, and what it tells its operator."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import streamlit as st

from dpmf_core.administration.overview import Overview, overview
from dpmf_core.jobs.engine import engine
from pages.server import housekeeping, sessions, upload_quota, warming


def now() -> Overview:
    return overview(engine(), sessions.registry.visits(), upload_quota.uploaded_in_all())


@contextlib.asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[None]:
    """While the server runs its caretaker is at work, idle workers compute what pages show first,
    and sessions that go are seen off.
    """
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(housekeeping.watching())
        await stack.enter_async_context(warming.going())
        stack.callback(asyncio.create_task(sessions.watch()).cancel)
        yield
