"""Records the explorer for the README: opens a page in a browser, plays with it, and writes a moving picture.

    python docs/record_explorer.py square docs/images/explorer.webp

It needs the extra gnode[browser] and a Chromium; see tests/explorer/conftest.py for how one is found.
"""

import argparse
import io
import shutil
import tempfile
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import gnode

SIZE = {"width": 920, "height": 900}
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking"]
FRAMES, SECONDS = 70, 9.0
"""How many pictures are taken, and how long they last when shown."""
PULSES = {6: "1", 20: "Shift+2", 34: "2", 48: "Shift+1"}
"""The frames at which a key is pressed, which gives an input a pulse."""
HELD = 3
"""For how many frames it is held."""


def record(source: str, out: Path) -> None:
    """Writes a moving picture of a network's page while pulses are stored one after the other."""
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = gnode.explore(source).save(Path(folder) / "page.html")
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        page = browser.new_page(viewport=SIZE)
        page.goto(page_file.as_uri())
        while page.evaluate("gnodeExplorer.stats().busy"):  # the policy of the page forbids wait_for_function
            time.sleep(0.2)
        time.sleep(2.0)
        frames, down = [], None
        for number in range(FRAMES):
            if number in PULSES:
                down = (PULSES[number], number)
                _keys(page, down[0], "down")
            if down is not None and number == down[1] + HELD:
                _keys(page, down[0], "up")
                down = None
            frames.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
        browser.close()
    width, height = SIZE["width"] * 3 // 4, SIZE["height"] * 3 // 4
    small = [frame.resize((width, height), Image.Resampling.LANCZOS) for frame in frames]
    options = {"duration": round(1000 * SECONDS / FRAMES), "loop": 0, "quality": 60, "method": 6}
    small[0].save(out, save_all=True, append_images=small[1:], **options)


def _keys(page, keys: str, action: str) -> None:
    """Presses or lets go of keys such as "Shift+2"."""
    for key in keys.split("+") if action == "down" else reversed(keys.split("+")):
        getattr(page.keyboard, action)(f"Digit{key}" if key.isdigit() else key)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", help="the folder of a run, or the name of a network that comes with gnode")
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    record(given.source, given.out)
