"""The visitor of a page: a login, or the holder of this session's secret token.

A client's address identifies no one: behind a proxy all clients have the same.
"""

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from dpmf_core.base.requesters import Asker, asking
from dpmf_core.base.settings import settings
from pages.server import doors, streamlit_internals

TOKEN = "visitor.token"  # in the session: its secret


def logged_in() -> bool:
    return doors.login_described() and bool(st.user.get("is_logged_in"))


def names() -> frozenset[str]:
    """The names by which the operators' list may contain the visitor.

    These are the verified e-mail address, and issuer and subject.
    """
    subject = st.user.get("sub") if logged_in() else None
    if not subject:
        return frozenset()
    known_names = {f"{st.user.get('iss')} {subject}"}
    mail = st.user.get("email")
    # an address that the provider has not verified may be another person's
    if mail and st.user.get("email_verified") is True:
        known_names.add(str(mail))
    return frozenset(known_names)


def label() -> str:
    """The visitor's name for operators; '' without a login."""
    return min(names(), key=len, default="")


def asker() -> Asker:
    if logged_in():
        operates = bool(names() & set(settings().operators))
        return Asker.of_login(
            str(st.user.get("iss")), str(st.user.get("sub")), operates
        )
    token = st.session_state.setdefault(TOKEN, secrets.token_urlsafe(24))
    return Asker.of_session(token, alone=_alone())


def person() -> str:
    """Who takes turns for the workers: a login, else a browser, else this session.

    All tabs of a browser have in common what Streamlit's cookie against forged requests masks. A
    frame on another site has no cookie.
    """
    token = streamlit_internals.browser_token()
    if logged_in() or token is None:
        return asker().owner
    return f"browser:{hashlib.sha256(token).hexdigest()[:16]}"


def address() -> str:
    """The visitor's network address; '' if the proxy does not send it."""
    network_address = st.context.ip_address
    if isinstance(network_address, str):
        return network_address
    return ""


def _alone() -> bool:
    """Whether one person uses their own machine.

    That is the local profile without operators or login, at a loopback address without other names.
    """
    return (
        settings().profile == "local"
        and not settings().operators
        and not doors.login_described()
        and doors.is_loopback(st.get_option("server.address") or "")
        and not doors.names()
    )


def account_owner() -> str:
    """The owner of accounts for uploaded files; '' for one person at their own machine."""
    who = asker()
    if who.alone:
        return ""
    return who.owner


@contextmanager
def here() -> Iterator[None]:
    """Make this page's visitor the requester within the block."""
    with asking(asker()):
        yield
