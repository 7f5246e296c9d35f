"""Who is at the page: a login, or the holder of this session's secret token.

An address of a client tells nothing: behind a proxy all are alike.
"""

import functools
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from dpmf_core.base.requesters import Asker, asking
from dpmf_core.base.settings import settings
from pages.server import doors

TOKEN = "visitor.token"


@functools.cache
def login_needed() -> bool:
    """Whether the server's secrets described a login when it was first asked.

    The server's doors read them once too; Streamlit would read the file on every call.
    """
    return doors.login_described()


def logged_in() -> bool:
    return login_needed() and bool(st.user.get("is_logged_in"))


def names() -> frozenset[str]:
    """By what the operators' list may call who is logged in: a verified e-mail address, or
    issuer and subject.
    """
    if not logged_in() or not (subject := st.user.get("sub")):
        return frozenset()
    mail = st.user.get("email") if st.user.get("email_verified") is True else None
    return frozenset({f"{st.user.get('iss')} {subject}", *([str(mail)] if mail else [])})


def label() -> str:
    """How an operator sees who it is: '' without a login."""
    return min(names(), key=len, default="")


def asker() -> Asker:
    """Who asks for what this page does."""
    if logged_in():
        operates = bool(names() & set(settings().operators))
        return Asker.of_login(str(st.user.get("iss")), str(st.user.get("sub")), operates)
    token = st.session_state.setdefault(TOKEN, secrets.token_urlsafe(24))
    return Asker.of_session(token, alone=_alone())


def _alone() -> bool:
    """One person at their own machine: the local profile, no login, and neither an address nor
    a name but the machine's own.
    """
    return (
        settings().profile == "local"
        and not settings().operators
        and not login_needed()
        and doors.is_loopback(doors.address() or "")
        and not doors.doors().hosts
    )


def account_owner() -> str:
    """Whose account a file enters that is brought at this page; "" for one person at their own
    machine, whose sessions have one account for each file.
    """
    who = asker()
    return "" if who.alone else who.owner


@contextmanager
def here() -> Iterator[Asker]:
    """Within it, whoever is at the page asks."""
    who = asker()
    with asking(who):
        yield who
