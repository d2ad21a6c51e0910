"""Counts the frames per second of the explorer's page in a browser without a screen, drawn by the processor.

    python benchmarks/explorer_frames.py                10 seconds for each line
    python benchmarks/explorer_frames.py --seconds 3    a quick look

Two gnODEs with three hidden layers of 100 units, drawn at random, are shown with 2,000 particles in a window of 1280 x 800
pixels: one with 2 states, one with 100 states in the plane of two outputs. Frames are counted when nothing but the particles
moves, and while an input slider moves to and fro, so that fixed points are followed and the flow is sampled anew all the
time. A browser draws 60 frames a second at most. Other programs make them fewer, so the load of the machine is stored beside
them, and the processor time that the page and its drawing take for a frame, each in a process of its own: that is about the
same on a busy machine.

Needs the extra `gnode[browser]`, and Chromium, which is found as in tests/explorer/conftest.py.
"""

import argparse
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from timing import report

import gnode

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LEAST = {2: 20, 100: 30}
"""The frames per second that must be reached, by the number of states."""
WINDOW = {"width": 1280, "height": 800}
ARGUMENTS = [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
]
MOVE = """() => {
    const slider = document.querySelector('[data-test="input-0"]');
    const began = performance.now();
    globalThis.moving = setInterval(() => {
        slider.value = String(0.5 * Math.sin((performance.now() - began) / 1000));
        slider.dispatchEvent(new Event("input", { bubbles: true }));
    }, 16);
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long frames are counted for each line")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright  # an extra, which importing this file does not need

    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=_program(), args=ARGUMENTS)
        version = browser.version
        rows = []
        for states in LEAST:
            page = browser.new_page(viewport=WINDOW)  # type: ignore[arg-type]
            page.goto(_saved(states, Path(folder)).as_uri())
            rows += _measured(browser, page, states, options.seconds)
            page.close()
        browser.close()
    _report(rows, load, version)


def _program() -> str:
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("GNODE_BROWSER") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise SystemExit(f"there is no browser: {', '.join(names)} or the variable GNODE_BROWSER")
    return found


def _saved(states: int, folder: Path) -> Path:
    net = gnode.Network(gnode.cells.gnode(2, states, widths=(100, 100, 100), tau=0.1, key=0), outputs=2, key=1)
    return gnode.explore(net, starts=50, dt=0.01).save(folder / f"{states}.html")


def _measured(browser: "Browser", page: "Page", states: int, seconds: float) -> list[dict[str, Any]]:
    """Counts frames at rest, then while a slider moves."""
    while page.evaluate("() => !(globalThis.gnodeExplorer?.stats()?.frames > 60) || gnodeExplorer.stats().busy"):
        page.wait_for_timeout(100)
    rows = []
    for what, begin, end in (
        ("at rest", "() => 0", "() => 0"),
        ("a slider moves", MOVE, "() => clearInterval(moving)"),
    ):
        page.evaluate(begin)
        page.wait_for_timeout(1000)
        before = _now(browser, page)
        page.wait_for_timeout(1000 * seconds)
        passed = {name: value - before[name] for name, value in _now(browser, page).items()}
        page.evaluate(end)
        rows.append(
            {
                "states": states,
                "what": what,
                "particles": page.evaluate("() => gnodeExplorer.stats().particles"),
                "frames per second": passed["frames"] / passed["seconds"],
                "page, ms per frame": 1000 * passed["renderer"] / passed["frames"],
                "drawing, ms per frame": 1000 * passed["GPU"] / passed["frames"],
            }
        )
    return rows


def _now(browser: "Browser", page: "Page") -> dict[str, float]:
    """The time, the frames so far, and the processor time so far of each kind of process."""
    session = browser.new_browser_cdp_session()
    found: dict[str, float] = {"renderer": 0.0, "GPU": 0.0}
    for process in session.send("SystemInfo.getProcessInfo")["processInfo"]:
        found[process["type"]] = found.get(process["type"], 0.0) + process["cpuTime"]
    session.detach()
    milliseconds, found["frames"] = page.evaluate("() => [performance.now(), gnodeExplorer.stats().frames]")
    return found | {"seconds": milliseconds / 1000}


def _report(rows: list[dict[str, Any]], load: float, version: str) -> None:
    where = f"Chromium {version.split('.')[0]} with SwiftShader, load {load:.1f} on {os.cpu_count()} cores"
    report(f"Frames per second of the explorer: {where}", rows, "explorer_frames")
    for states, least in LEAST.items():
        (rest,) = [row["frames per second"] for row in rows if row["states"] == states and row["what"] == "at rest"]
        print(f"{states} states: at least {least} frames per second: {'yes' if rest >= least else 'NO'}")


if __name__ == "__main__":
    main()
