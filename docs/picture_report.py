"""Makes the pictures of docs/howto/reading-a-report.md from a run that has been analysed.

    gnode demo --out runs/demo && gnode analyse runs/demo && python docs/picture_report.py runs/demo

It needs Chromium and Playwright, as the tests of the explorer's page do.
"""

import io
import os
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parent / "images"
SIZE = {"width": 1180, "height": 1010}
WIDTH = 1000
"""Of the pictures, in pixels."""
FLAGS = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def first_screen(report: Path) -> Image.Image:
    """What one sees when the report is opened, once the flow has drawn itself."""
    browser = os.environ.get("GNODE_BROWSER") or next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))))
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=FLAGS)
        page = opened.new_page(viewport=SIZE)  # type: ignore[arg-type]
        page.goto(report.absolute().as_uri())
        page.wait_for_timeout(5000)
        shot = page.screenshot()
        opened.close()
    return Image.open(io.BytesIO(shot))


def main() -> None:
    folder = Path(sys.argv[1]) / "analysis"
    pictures = {"first-screen": first_screen(folder / "report.html")}
    pictures |= {name: Image.open(folder / f"{name}.png") for name in ("eigenvalues", "attractor")}
    for name, picture in pictures.items():
        size = WIDTH, round(picture.height * WIDTH / picture.width)
        small = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
        small.save(IMAGES / f"report-{name}.webp", quality=80)


if __name__ == "__main__":
    main()
