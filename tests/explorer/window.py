"""A page of the explorer in a browser: what a person does there, what they see, and what the page complains of."""

import io
import re
from pathlib import Path

import numpy as np
import PIL.Image

PATIENCE = 60.0
"""Seconds that a page may take for anything; only a loaded machine comes near."""
LOCAL = ("file://", "data:", "blob:")


class Window:
    """Wraps Playwright's page. Places are coordinates of the plane, whose limits the test puts into the link."""

    def __init__(self, page):
        self.page = page
        self.complaints: list[str] = []
        self.limits = (-2.0, 2.0, -2.0, 2.0)
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(f"page error: {error}"))
        page.on("crash", lambda: self.complaints.append("the page crashed"))
        page.on("dialog", self._asked)
        page.on("request", self._requested)

    def _heard(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(f"console {message.type}: {message.text}")

    def _asked(self, dialog):
        self.complaints.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def _requested(self, request):
        if not request.url.startswith(LOCAL):
            self.complaints.append(f"a request: {request.url}")

    # Waiting and reading

    def open(self, file: Path, **link):
        """Opens a page at a link, such as input="0.5", and waits until it is drawn."""
        if "limits" in link:
            self.limits = link["limits"]
            link["limits"] = ",".join(map(str, link["limits"]))
        ending = "&".join(f"{name}={value}" for name, value in link.items())
        self.page.goto(f"{file.as_uri()}{'#' * bool(ending)}{ending}", wait_until="load")
        self.wait("globalThis.gnodeExplorer?.stats()?.frames > 0")
        self.rest()
        return self

    def get(self, expression: str):
        return self.page.evaluate(f"() => ({expression})")

    def wait(self, expression: str, seconds: float = PATIENCE):
        """Returns the value of an expression as soon as it is true. Playwright's own way is eval, which the page forbids."""
        found = self.page.evaluate(
            f"""async (end) => {{
                while (performance.now() < end) {{
                    const found = ({expression});
                    if (found) return found;
                    await new Promise((resolve) => setTimeout(resolve, 15));
                }}
                return null;
            }}""",
            self.get("performance.now()") + 1000 * seconds,
        )
        assert found is not None, f"not within {seconds:g} s: {expression}"
        return found

    def rest(self):
        """Waits until nothing is being computed."""
        self.wait("!gnodeExplorer.stats().busy")
        self.frames(2)

    def frames(self, count: int):
        """Waits for so many frames."""
        self.wait(f"gnodeExplorer.stats().frames >= {self.get('gnodeExplorer.stats().frames') + count}")

    def part(self, test: str):
        return self.page.locator(f'[data-test="{test}"]')

    def text(self, test: str) -> str:
        return self.get(f"seen.part('{test}').textContent")

    def link(self) -> dict[str, str]:
        """The parts of the permanent link, as it is written now."""
        self.part("copy-link").click()
        ending = self.page.url.partition("#")[2]
        return dict(part.split("=", 1) for part in ending.split("&") if part)

    # The portrait

    def place(self, a: float, b: float, pane: int = 0) -> tuple[float, float]:
        """The place of coordinates in the window."""
        plot, (left, right, bottom, top) = self.get(f"seen.plot({pane})"), self.limits
        x = plot["left"] + (a - left) / (right - left) * plot["width"]
        return x, plot["top"] + (top - b) / (top - bottom) * plot["height"]

    def coordinates(self, places, pane: int = 0) -> np.ndarray:
        """The coordinates of places in the plot."""
        plot, (left, right, bottom, top) = self.get(f"seen.plot({pane})"), self.limits
        x, y = np.moveaxis(np.asarray(places, float), -1, 0)
        return np.stack([left + x / plot["width"] * (right - left), top - y / plot["height"] * (top - bottom)], axis=-1)

    @property
    def pixel(self) -> float:
        """The width of a pixel in coordinates."""
        return (self.limits[1] - self.limits[0]) / self.get("seen.plot(0)")["width"]

    def to_portrait(self):
        """Scrolls so that the whole portrait can be reached by the pointer."""
        self.part("portrait").first.scroll_into_view_if_needed()

    def click(self, a: float, b: float, pane: int = 0):
        self.to_portrait()
        self.page.mouse.click(*self.place(a, b, pane))

    def hover(self, a: float, b: float) -> dict[str, str]:
        """Moves the pointer to a place and returns what the card there says."""
        self.to_portrait()
        x, y = self.place(a, b)
        self.page.mouse.move(x + 3, y)
        self.page.mouse.move(x, y)
        self.wait("!seen.part('hover').hidden")
        return self.get("seen.facts('[data-test=hover]')")

    def drag(self, start: tuple[float, float], end: tuple[float, float], release: bool = True):
        self.to_portrait()
        (x0, y0), (x1, y1) = self.place(*start), self.place(*end)
        self.page.mouse.move(x0, y0)
        self.page.mouse.down()
        for share in (0.3, 0.7, 1.0):
            self.page.mouse.move(x0 + share * (x1 - x0), y0 + share * (y1 - y0))
        if release:
            self.page.mouse.up()

    def live(self, pane: int = 0) -> np.ndarray:
        return self.coordinates(self.get(f"seen.live({pane})"), pane)

    def in_plot(self, a: float, b: float) -> list[float]:
        """Coordinates as a place in the plot, for expressions."""
        plot, (x, y) = self.get("seen.plot(0)"), self.place(a, b)
        return [float(x - plot["left"]), float(y - plot["top"])]

    def wait_near(self, what: str, a: float, b: float, pixels: float = 2.0, seconds: float = PATIENCE):
        """Waits until a place in the plot, such as seen.live(0), is at coordinates."""
        self.wait(f"seen.near({what}, {self.in_plot(a, b)}, {pixels})", seconds)

    def launches(self, pane: int = 0) -> list[np.ndarray]:
        return [self.coordinates(path, pane) for path in self.get(f"seen.launches({pane})")]

    def points(self, pane: int = 0) -> np.ndarray:
        """The coordinates of the fixed points that are drawn, in the order of the first."""
        places = [mark["place"] for mark in self.get(f"seen.marks({pane})")]
        return np.array(sorted(map(tuple, self.coordinates(places, pane)))) if places else np.zeros((0, 2))

    def slide(self, test: str, value: float) -> float:
        """Puts a slider somewhere; returns where its steps let it stand."""
        return self.page.evaluate(
            """([test, value]) => {
                const slider = seen.part(test);
                slider.value = String(value);
                slider.dispatchEvent(new Event("input", { bubbles: true }));
                return Number(slider.value);
            }""",
            [test, value],
        )

    def picture(self, test: str = "portrait") -> np.ndarray:
        """A part of the page as an array of pixels."""
        taken = self.part(test).first.screenshot(animations="disabled")
        return np.asarray(PIL.Image.open(io.BytesIO(taken)).convert("RGB"))


def number(text: str) -> float:
    """The first number in a text of the page, which writes minus signs as printers do."""
    found = re.search(r"-?\d+(\.\d+)?(e-?\d+)?", text.replace("\N{MINUS SIGN}", "-"))
    assert found is not None, text
    return float(found[0])


def colours(picture: np.ndarray) -> int:
    """The number of colours in a picture, coarsely."""
    return len(np.unique((picture // 16).reshape(-1, 3), axis=0))
