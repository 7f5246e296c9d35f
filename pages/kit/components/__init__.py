"""Components of this project's own, each a folder with its `.js` and `.css` beside a small
`__init__.py`.

Streamlit runs a script that is handed over as text from a `blob:` address, which the server's
policy forbids. A script that lies in a declared folder is served as a file of this server, which
the policy allows. Streamlit finds such folders in the manifests of installed packages; a clone has
none, so each is declared here.
"""

import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest
from streamlit.components.v2.types import ComponentRenderer
from streamlit.elements.lib.layout_utils import Height

from dpmf_core.version import __version__

PROJECT = "dpmf"
LOCK = threading.Lock()  # declaring a folder twice would empty its component for a moment


@dataclass(frozen=True)
class Component:
    """A component in a folder that holds `<its name>.js`, whose default export draws it, and
    `<its name>.css`.

    The script gets the data as JSON and writes them as text, never as HTML.
    shared: the folder beside it, if any, that holds what components share: their scripts import
    `../dpmf.<shared>/<shared>.js`, and `<shared>.css` stands before their own.
    """

    folder: Path
    shared: str = ""

    @property
    def name(self) -> str:
        return f"{PROJECT}.{self.folder.name}"

    def mount(self, key: str, data: Any, *, height: Height = "content", **on_change: Any) -> Any:
        """Draw it here, with data that JSON can say; its state, by name.

        on_change: for each value that the script may set, `on_<value>_change`, called in the
        session after a person has changed it.
        """
        with LOCK:
            for folder in self.folders:
                _declare(get_bidi_component_manager(), folder)
            render = _renderer(self)
        return render(key=key, data=data, height=height, **on_change)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Of what it shares, if anything, and its own."""
        shared = (self.folder.parent / self.shared,) if self.shared else ()
        return (*shared, self.folder)


def _declare(manager: BidiComponentManager, folder: Path) -> None:
    """Once a runtime: the folder's files are served under its name."""
    if manager.get_component_asset_root(f"{PROJECT}.{folder.name}") is None:
        config = ComponentConfig(name=folder.name, asset_dir=folder.name)
        manifest = ComponentManifest(name=PROJECT, version=__version__, components=[config])
        manager.register_from_manifest(manifest, folder.parent)


@cache
def _renderer(component: Component) -> ComponentRenderer:
    """Its mounting command; the style goes with the page, so that nothing is drawn without."""
    styles = [(it / f"{it.name}.css").read_text("utf-8") for it in component.folders]
    script = f"{component.folder.name}.js"
    return st.components.v2.component(component.name, css="".join(styles), js=script)
