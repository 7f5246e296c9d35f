"""A component of one's own under the server's policy."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ROOT, Server
from tests.browser.test_doors import NOTE_VIOLATIONS

pytestmark = pytest.mark.browser
SCRIPT = """
export default function ({ data, parentElement, setStateValue }) {
  const button = parentElement.querySelector("button")
    ?? parentElement.appendChild(document.createElement("button"));
  button.textContent = data.text;
  button.onclick = () => setStateValue("pressed", data.text.length);
}
"""
STYLE = "button {\n  color: rgb(1, 2, 3);\n}\n"
PAGE = """
from pathlib import Path
import streamlit as st
from pages.kit.components import Component

probe = Component(Path(__file__).parent / "probe")
heard = probe.mount("probe", {"text": "<b>&1"}, on_pressed_change=lambda: None)
st.write(f"heard {heard.pressed}")
"""
APP = """
from pathlib import Path
import streamlit as st
from starlette.middleware import Middleware
from pages.server.doors import Doors, Guard

app = st.App(
    Path(__file__).parent / "page.py", middleware=[Middleware(Guard, doors=Doors())]
)
"""


class ProbeServer(Server):
    """A page that holds one component, behind the doors of the dashboard."""

    def launch(self, log: Any) -> "subprocess.Popen[bytes]":
        options = {"server.port": self.port, "server.headless": "true"}
        options["browser.gatherUsageStats"] = "false"  # as config.toml says for the dashboard
        command = [sys.executable, "-m", "streamlit", "run", "app.py"]
        command += [f"--{name}={value}" for name, value in options.items()]
        return subprocess.Popen(
            command,
            cwd=self.data,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )


def test_a_component_draws_and_answers_within_the_policy(chromium: Any, tmp_path: Path) -> None:
    folder = tmp_path / "probe"
    folder.mkdir()
    for file, text in (("probe/probe.js", SCRIPT), ("probe/probe.css", STYLE)):
        (tmp_path / file).write_text(text)
    for file, text in (("page.py", PAGE), ("app.py", APP)):
        (tmp_path / file).write_text(text)
    server = ProbeServer(tmp_path)
    server.start()
    page = chromium.new_page()
    try:
        page.add_init_script(NOTE_VIOLATIONS)
        scripts = []
        page.on("response", lambda it: scripts.append(it.url) if it.url.endswith(".js") else None)
        page.goto(server.url)
        button = page.get_by_role("button", name="<b>&1")
        expect(button).to_have_css("color", "rgb(1, 2, 3)")
        button.click()
        expect(page.get_by_text("heard 5")).to_be_visible()
        assert f"{server.url}/_stcore/bidi-components/dpmf.probe/probe.js" in scripts
        assert page.evaluate("violations") == []
    finally:
        page.close()
        server.kill()
