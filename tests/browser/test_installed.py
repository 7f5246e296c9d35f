"""The app of the wheel, served from an empty folder."""

import subprocess

import pytest

from tests.browser.conftest import Server
from tests.test_packaging import dpmf, installed, variables_in, wheel  # noqa: F401  # fixtures

pytestmark = pytest.mark.browser


class InstalledServer(Server):
    """`dpmf app`, with the settings that lie next to the installed script."""

    def __init__(self, data, environment):
        super().__init__(data)
        self.environment = environment
        self.work = data / "work"
        self.work.mkdir()

    @property
    def command(self):
        options = ("--server.port", str(self.port), "--server.headless", "true")
        return [*dpmf(self.environment), "app", *options]

    def launch(self, log):
        return subprocess.Popen(
            self.command,
            cwd=self.work,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=variables_in(self.work) | {"DPMF_DATA": str(self.data)},
            start_new_session=True,
        )


def test_explore_is_served_as_it_is_set(
    chromium,
    installed,  # noqa: F811
    tmp_path,
):
    from playwright.sync_api import expect

    server = InstalledServer(tmp_path, installed)
    server.start()
    try:
        page = chromium.new_page(color_scheme="light")
        page.goto(f"{server.url}/explore?dataset=cinema-small")
        expect(page.get_by_role("heading", level=1)).to_contain_text("ε = 2")
        expect(page.get_by_test_id("stPlotlyChart").first).to_be_visible(
            timeout=180_000
        )
        # config.toml has taken effect: the theme, and loopback alone
        expect(page.get_by_test_id("stApp")).to_have_css("color", "rgb(11, 14, 20)")
        assert f"http://127.0.0.1:{server.port}" in server.log.read_text()
        page.close()
    finally:
        server.kill()
    assert list(server.work.iterdir()) == []
