"""Pages in Chromium, light and dark: what they request from elsewhere, what they complain about, whether they fit."""

import functools
import itertools
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox")
WINDOWS = ((360, 740), (800, 900), (1400, 900))
"""A telephone, a tablet and a screen: width and height in pixels."""
SCHEMES = ("light", "dark")
DARKEST = 0.25
"""Where light begins, between black at 0 and white at 1."""
LANDING = "index.html"
LIVE = ".portrait iframe"
UNTIL_LIVE = 20_000
"""Milliseconds in which the portrait of the landing page has to be there; a processor draws it here."""
SEARCH = "search.html?q=fixed+points"
WAIT = 300


def complaints(site: Path) -> list[str]:
    """Opens every page but those of source files, light and dark, and returns a line for everything that is wrong."""
    from playwright.sync_api import sync_playwright

    program = os.environ.get("GNODE_BROWSER") or next(filter(None, map(shutil.which, PROGRAMS)), None)
    names = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    names = [name for name in names if not name.startswith(("source/", "live/"))]
    found: list[str] = []
    with served(site) as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        for (width, height), scheme in itertools.product(WINDOWS, SCHEMES):
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            _listen(page, found, address)
            for name in [*names, SEARCH]:
                page.goto(f"{address}/{name}", wait_until="load")
                page.wait_for_timeout(WAIT)
                found += [f"{name}: {problem}" for problem in _of_window(page, width, scheme)]
                if name == LANDING:
                    found += [f"{name}: {problem}" for problem in _of_portrait(page, width, height, scheme)]
            page.close()
        browser.close()
    return [line.replace(f"{address}/", "") for line in dict.fromkeys(found)]


def _of_window(page: Any, width: int, scheme: str) -> Iterator[str]:
    """What is wrong with a page in a window of that width, whose user prefers that scheme."""
    if page.evaluate("document.documentElement.scrollWidth") > width:
        yield f"is wider than a window of {width} pixels"
    red, green, blue = page.evaluate(
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
    )
    if (max(red, green, blue) / 255 < DARKEST) != (scheme == "dark"):
        yield f"is not {scheme} for who prefers that"


def _of_portrait(page: Any, width: int, height: int, scheme: str) -> Iterator[str]:
    """What is wrong with the live portrait of the landing page: all of it is in the first screen, and it moves there."""
    from playwright.sync_api import TimeoutError as Late

    where = f"in a {scheme} window of {width} x {height} pixels"
    box = page.locator(LIVE).bounding_box() if page.locator(LIVE).count() else None
    if box is None:
        yield f"has no live portrait {where}"
        return
    inside = box["x"] >= 0 and box["y"] >= 0 and box["x"] + box["width"] <= width and box["y"] + box["height"] <= height
    if not inside:
        yield f"its live portrait is not in the first screen {where}"
    try:
        page.locator(f"{LIVE}.is-there").wait_for(timeout=UNTIL_LIVE)
        page.frame_locator(LIVE).locator("canvas").first.wait_for(timeout=UNTIL_LIVE)
    except Late:
        yield f"its live portrait does not appear {where}"


def _listen(page: Any, found: list[str], address: str) -> None:
    """Notes what a page requests from elsewhere, and its errors."""
    page.on("request", lambda asked: _note(found, asked.url, address))
    page.on("console", lambda said: said.type == "error" and found.append(f"{page.url}: says {said.text}"))
    page.on("pageerror", lambda error: found.append(f"{page.url}: fails with {error}"))


def _note(found: list[str], asked: str, address: str) -> None:
    if not asked.startswith((address, "data:", "blob:", "about:")):
        found.append(f"a page requests {asked}")


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serves the site from this machine, for as long as the context lasts, and yields its address."""
    handler = functools.partial(_Quiet, directory=str(site))
    server = ThreadingHTTPServer(("localhost", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Says nothing of what it serves."""
