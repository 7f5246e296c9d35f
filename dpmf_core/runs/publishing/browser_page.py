"""A page that recommends in the browser from a released model: one file, which may not connect
anywhere, so that a visitor's ratings stay with her.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dpmf_core.html_text import text
from dpmf_core.privacy.formatting import epsilon_in_full

HERE = Path(__file__).parent
NUMERIC = (  # arrays that some local step reads
    "item_offsets",
    "item_factors",
    "local_columns",
    "probe",
    "rates",
    "inverse_singular",
    "directions",
    "shrinkages",
    "ranks",
)


def page(settings: Mapping[str, Any], arrays: Mapping[str, Any], title: str) -> str:
    """The page. settings and arrays: as the model's files hold them."""
    script, style = ((HERE / f"recommend.{kind}").read_text("utf-8") for kind in ("js", "css"))
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}';"
        " form-action 'none'; base-uri 'none'"
    )
    model = {
        **{name: settings[name] for name in ("local_step", "bounds", "settings")},
        "names": arrays.get("item_titles", arrays["item_ids"]).tolist(),
        "arrays": {name: _packed(arrays[name]) for name in NUMERIC if name in arrays},
    }
    data = json.dumps(model, allow_nan=False).replace("<", "\\u003c")  # ends no element
    warning = f'<p class="warning">{text(settings["warning"])}</p>' if settings["warning"] else ""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{text(title)}</title><style>{style}</style></head><body>
<h1>{text(title)}</h1>{warning}
<p>Your ratings stay in this page: it holds the whole released model and may not connect anywhere.
Close it and they are gone.</p>
<p>{text(_promise(settings["privacy"]))}</p>
<div class="sides"><section>
<h2><label for="search">Find what you know</label></h2>
<input id="search" type="search" autocomplete="off"><ul id="found"></ul>
<h2>Your ratings</h2><ul id="mine"></ul></section>
<section aria-live="polite"><h2>Recommended to you</h2><p id="whose"></p>
<ol id="list"></ol></section></div>
<script type="application/json" id="model">{data}</script>
<script>{script}</script></body></html>
"""


def _promise(privacy: Mapping[str, Any]) -> str:
    """What the model tells of the people it was trained on, at most."""
    if privacy["epsilon"] is None:
        return str(privacy["words"])
    if privacy["delta"] is None:
        return (
            f"For those whose ratings trained the model: nothing was released. {privacy['words']}"
        )
    total = epsilon_in_full(
        privacy["epsilon"],
        privacy["delta"],
        privacy["unit"],
        privacy["relation"],
        privacy["rule"],
    )
    return f"For those whose ratings trained the model: {total}. {privacy['words']}"


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _packed(array: Any) -> dict[str, Any]:
    """An array as its shape and its numbers, float64 (little endian), in base 64."""
    numbers = np.ascontiguousarray(array, "<f8")
    return {"shape": list(array.shape), "data": base64.b64encode(numbers.tobytes()).decode()}
