"""Pages in Chromium: what they request from elsewhere, what they complain about, whether they are wider than the window."""

import functools
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
WIDTHS = (360, 800, 1400)
SEARCH = "search.html?q=fixed+points"
WAIT = 300


def complaints(site: Path) -> list[str]:
    """Opens every page but those of source files at three widths, and returns a line for everything that is wrong."""
    from playwright.sync_api import sync_playwright

    program = os.environ.get("GNODE_BROWSER") or next(filter(None, map(shutil.which, PROGRAMS)), None)
    names = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    names = [name for name in names if not name.startswith(("source/", "live/"))]
    found: list[str] = []
    with served(site) as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        for width in WIDTHS:
            page = browser.new_page(viewport={"width": width, "height": 900})
            _listen(page, found, address)
            for name in [*names, SEARCH]:
                page.goto(f"{address}/{name}", wait_until="load")
                page.wait_for_timeout(WAIT)
                if page.evaluate("document.documentElement.scrollWidth") > width:
                    found.append(f"{name}: is wider than a window of {width} pixels")
            page.close()
        browser.close()
    return [line.replace(f"{address}/", "") for line in dict.fromkeys(found)]


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
