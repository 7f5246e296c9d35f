"""Links and codes that this server signs, so that it need not store them and only it can make them.

The key is the operator's setting `lesson_key`. Without one it is drawn once and kept in the data
folder, and what it signed ends with that folder.
"""

import functools
import hashlib
import hmac
import logging
import os
import secrets
from pathlib import Path
from typing import Any

from itsdangerous import BadData, Signer, URLSafeSerializer

from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import create_folder, data_folder, workplace
from dpmf_core.base.settings import settings

FILE = "lesson_key"
LEAST = 32  # letters of a key
LONGEST = 20_000  # letters of a token that is looked at
WARNING = (
    "A key in this server's data folder signs lesson links, so they expire when it is lost. Set"
    " DPMF_LESSON_KEY for links that outlast the folder."
)


class ForgedToken(ValueError):
    """A token or a code that this server did not sign, or not for this purpose."""


def key_is_lasting() -> bool:
    """Whether the operator has set the key, so that links outlive the data folder."""
    return settings().lesson_key is not None


def _key() -> str:
    key = settings().lesson_key
    if key is not None:
        return key.get_secret_value()
    return _key_in(data_folder())


@functools.lru_cache(8)
def _key_in(folder: Path) -> str:
    """The key of a data folder, drawn by the first process that needs it.

    Raises BadInput if the file holds no key, with which anybody could sign.
    """
    file = create_folder(folder) / FILE
    if not file.is_file():
        logging.getLogger(__name__).warning(WARNING)
        aside = workplace() / secrets.token_urlsafe(9)
        with os.fdopen(
            os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w"
        ) as out:
            out.write(secrets.token_urlsafe(48))
            out.flush()
            # else a machine that stops here may leave an empty file
            os.fsync(out.fileno())
        try:
            os.link(aside, file)
        except FileExistsError:
            logging.getLogger(__name__).info("another process has just drawn the key")
        aside.unlink()
    key = file.read_text("utf-8").strip()
    if len(key) < LEAST:
        raise BadInput(
            f"The file {FILE} in the data folder must hold a key of at least {LEAST} letters. It"
            f" holds {len(key)}. Delete it, and a new key is drawn; links and codes of the old one"
            " then expire."
        )
    return key


def _options() -> dict[str, Any]:
    return {"key_derivation": "hmac", "digest_method": hashlib.sha256}


def _serializer(purpose: str) -> URLSafeSerializer:
    return URLSafeSerializer(_key(), f"dpmf.{purpose}", signer_kwargs=_options())


def sign(purpose: str, content: Any) -> str:
    """JSON content as a token for an address, signed for this purpose."""
    token = _serializer(purpose).dumps(content)
    if isinstance(token, str):
        return token
    return token.decode()


def content(purpose: str, token: str) -> Any:
    """The content of a token. Raises ForgedToken if not signed here for this purpose."""
    if len(token) > LONGEST or not token.isascii():
        raise ForgedToken
    try:
        return _serializer(purpose).loads(token)
    except BadData:
        raise ForgedToken from None


def signature(purpose: str, message: bytes, size: int) -> bytes:
    """The first `size` bytes of the signature of a message that is not JSON."""
    signer = Signer(_key(), f"dpmf.{purpose}", **_options())
    return hmac.digest(signer.derive_key(), message, hashlib.sha256)[:size]
