"""The checks of the built site in a browser find what they are for; skipped where Playwright or a browser is missing."""

import importlib
import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = """<!doctype html><html><head><style>
body { margin: 0; background: #fff } @media (prefers-color-scheme: dark) { body { background: DARK } }
</style><link rel="icon" href="data:,"></head><body>INSIDE</body></html>"""
PORTRAIT = """<div class="portrait" style="margin-top: TOPpx">
<iframe class="is-there" src="live/frame.html" width="200" height="300"></iframe></div>"""


@pytest.fixture
def complaints(monkeypatch):
    pytest.importorskip("playwright", reason="Playwright comes with the extra `browser`")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    browser = importlib.import_module("check.browser")
    if not os.environ.get("GNODE_BROWSER") and not any(map(shutil.which, browser.PROGRAMS)):
        pytest.skip("there is no browser")
    monkeypatch.setattr(browser, "WINDOWS", ((360, 740), (1400, 900)))
    monkeypatch.setattr(browser, "WAIT", 50)
    monkeypatch.setattr(browser, "UNTIL_LIVE", 1000)
    return browser.complaints


def page(dark="#111", inside=""):
    return PAGE.replace("DARK", dark).replace("INSIDE", inside)


def test_a_good_site_has_none_and_a_bad_one_each(complaints, tmp_path):
    (tmp_path / "live").mkdir()
    (tmp_path / "live" / "frame.html").write_text("<canvas></canvas>")
    (tmp_path / "index.html").write_text(page(inside=PORTRAIT.replace("TOP", "20")))
    (tmp_path / "search.html").write_text(page())
    assert complaints(tmp_path) == []

    (tmp_path / "index.html").write_text(page(inside=PORTRAIT.replace("TOP", "500")))
    (tmp_path / "search.html").write_text(page(dark="#eee", inside='<p style="width: 500px">x</p>'))
    assert sorted(complaints(tmp_path)) == [
        "index.html: its live portrait is not in the first screen in a dark window of 360 x 740 pixels",
        "index.html: its live portrait is not in the first screen in a light window of 360 x 740 pixels",
        "search.html: is not dark for who prefers that",
        "search.html: is wider than a window of 360 pixels",
        "search.html?q=fixed+points: is not dark for who prefers that",
        "search.html?q=fixed+points: is wider than a window of 360 pixels",
    ]

    (tmp_path / "live" / "frame.html").write_text("nothing is drawn")
    (tmp_path / "index.html").write_text(page(inside=PORTRAIT.replace("TOP", "20")))
    (tmp_path / "search.html").write_text(page())
    found = complaints(tmp_path)
    assert len(found) == 4
    assert all(line.startswith("index.html: its live portrait does not appear in a ") for line in found)
