"""A browser for the tests of the explorer's page, where there is one."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest
from required import missing
from small_networks import page_file
from window import PATIENCE, Window

import gnode

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    *("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
"""Drawn by the processor, so that every machine draws the same; and nothing is asked of the network."""


def _program():
    own = os.environ.get("GNODE_BROWSER")
    found = own or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        missing(f"there is no browser: {', '.join(PROGRAMS)} or the variable GNODE_BROWSER.", "GNODE_TEST_BROWSER")
    return found


@pytest.fixture(scope="session")
def browser():
    program = _program()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("Playwright is not installed: pip install 'gnode[browser]'.", "GNODE_TEST_BROWSER")
    driver = sync_playwright().start()
    started = driver.chromium.launch(executable_path=program, args=list(ARGUMENTS), timeout=1000 * PATIENCE)
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)  # Playwright leaves its own behind, and tests of other files may want to run one
    yield started, loop
    asyncio._set_running_loop(loop)
    started.close()
    driver.stop()


@pytest.fixture(scope="session")
def page_folder(tmp_path_factory) -> Path:
    """Shared by all workers of a run."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "explorer-pages"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def new_window(browser):
    """Opens windows, each with a memory of its own; a test fails if one of them complains of anything."""
    started, loop = browser
    asyncio._set_running_loop(loop)
    opened = []

    def make(width=760, height=760, **options):
        context = started.new_context(viewport={"width": width, "height": height}, accept_downloads=True, **options)
        context.set_default_timeout(1000 * PATIENCE)
        context.add_init_script(path=Path(__file__).parent / "seen.js")
        window = Window(context.new_page())
        opened.append(window)
        return window

    yield make
    complaints = [each for window in opened for each in window.complaints]
    for window in opened:
        window.page.context.close()
    asyncio._set_running_loop(None)
    assert complaints == []


@pytest.fixture
def explore(new_window, page_folder):
    """Opens the page of a small network at a link, by default where coordinates from -2 to 2 are shown.

    Unless a test needs motion, the window asks for less of it, and paths are drawn at once.
    """

    def opened(name, width=760, height=760, moving=False, options=None, **link):
        window = new_window(width, height, reduced_motion="no-preference" if moving else "reduce", **options or {})
        return window.open(page_file(name, page_folder), **{"limits": (-2.0, 2.0, -2.0, 2.0)} | link)

    return opened


@pytest.fixture
def report_page(page_folder) -> Path:
    """The report of a run of one epoch; its sizes are those of tests/report, so that compiled programs are shared."""
    place = page_folder / "report.html"
    if not place.exists():
        own = page_folder / f"run-{os.getpid()}"
        task = gnode.tasks.flip_flop("square", trials=10, validation=5, bins=12)
        net = gnode.Network(gnode.cells.gnode(2, 3, widths=(4,), tau=0.01, key=0), outputs=2, key=1)
        run = gnode.fit(net, task, epochs=1, batch_size=5, out=own)
        gnode.write_report(run, starts=50)
        (own / "analysis" / "report.html").replace(place)
    return place
