"""Private things in the store of a Dask worker, which writes to disk what its memory does not hold:
as bytes that nobody reads without a key, AES-256 in Galois counter mode.

The key goes with the task and is on no disk. One key serves a data set and the outcomes on it,
each with a nonce of its own.
"""

import pickle
import secrets
from typing import Any

KEY_BITS, NONCE_BYTES = 256, 12


def fresh_key() -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM.generate_key(KEY_BITS)


def sealed(thing: Any, key: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, pickle.dumps(thing, protocol=5), None)


def unsealed(text: bytes, key: bytes) -> Any:
    """What was sealed. Raises InvalidTag on another key, or bytes that were changed."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce, rest = text[:NONCE_BYTES], text[NONCE_BYTES:]
    return pickle.loads(AESGCM(key).decrypt(nonce, rest, None))
