"""A portrait: the explorer's page of one or several networks, to be saved, opened in a browser, or shown in a notebook."""

import html
import importlib.util
from pathlib import Path
from typing import Any

from gnode import errors
from gnode.arguments import checked
from gnode.explorer._page import page
from gnode.explorer.browser import open_page, temporary_place
from gnode.os_errors import as_path
from gnode.wording import plural

HEIGHT = 860
"""Of the frame in a notebook without widgets, in pixels."""


class Frame:
    """A portrait as HTML and nothing else. Made by `Portrait.frame`.

    No example: see `gnode.explore`.
    """

    def __init__(self, portrait: "Portrait"):
        self._portrait = portrait

    def _repr_html_(self) -> str:
        return self._portrait._repr_html_()  # pyright: ignore[reportPrivateUsage]

    def __repr__(self) -> str:
        return f"Frame({self._portrait!r})"


class Portrait:
    """One or several networks as a page that computes them in the browser. Made by `gnode.explore`.

    In a notebook it shows itself: as a widget if anywidget is installed (the extra `gnode[explore]`), else in a frame.

    No example: see `gnode.explore`.
    """

    def __init__(self, document: dict[str, Any]):
        self.document = document

    @property
    def title(self) -> str:
        """The heading of the page."""
        return self.document["title"]

    @property
    def verdict(self) -> str | None:
        """The sentence below it, for a run: what the network does, in the terms of its task."""
        return self.document["verdict"]

    def html(self) -> str:
        """Returns the page as text."""
        return page(self.document)

    @checked
    def save(self, path: str | Path) -> Path:
        """Writes the page: one HTML file that needs no other file and no network.

        **Raises:** `StoreError` if it cannot be written.
        """
        from gnode import files  # which imports numpy

        place = as_path("path", path)
        if place.is_dir():
            raise errors.StoreError(f"path is {errors.shown(str(path))}, a folder, but must be the name of a file.")
        with files.writing(place.parent):
            files.write_text(place, self.html())
        return place

    def show(self) -> Path:
        """Opens the page in the browser, from a temporary file.

        **Returns:** the file.

        **Raises:** `StoreError` if no browser can be opened.
        """
        place = self.save(temporary_place("portrait.html"))
        if not open_page(place):
            raise errors.StoreError(f"no browser could be opened; the page is {place}, which any browser can show.")
        return place

    def widget(self) -> Any:
        """Returns the portrait as a widget for notebooks, which needs anywidget.

        **Raises:** `ArgumentError` if it is not installed.
        """
        if importlib.util.find_spec("anywidget") is None:
            raise errors.ArgumentError("a widget needs the package anywidget: pip install 'gnode[explore]'.")
        from gnode.explorer._widget import widget_of

        return widget_of(self.document)

    def frame(self) -> Frame:
        """Returns the portrait as a frame, which moves wherever the notebook's outputs are kept as HTML, without a kernel.

        At the end of a cell it shows the same page as the portrait, also if anywidget is installed, whose widget needs a
        running kernel or the scripts of others. For notebooks that become pages of a site.
        """
        return Frame(self)

    def _repr_html_(self) -> str:
        # A frame of its own keeps the page's policy, styles and keys apart from those of the notebook.
        return (
            f'<iframe title="{html.escape(self.title)}" srcdoc="{html.escape(self.html())}" '
            f'sandbox="allow-scripts allow-downloads" style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **options: Any) -> Any:
        if importlib.util.find_spec("anywidget") is not None:
            return self.widget()._repr_mimebundle_(include=include, exclude=exclude, **options)
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}

    def _display_(self) -> Any:
        # marimo asks for this first, and would otherwise prefer `_repr_html_` to the widget's own way.
        return self.frame() if importlib.util.find_spec("anywidget") is None else self.widget()

    def __repr__(self) -> str:
        networks = self.document["networks"]
        sizes = ", ".join(sorted({plural(network["state_size"], "state") for network in networks}))
        return f"Portrait({errors.shortened(self.title, 80)!r}, {plural(len(networks), 'network')} of {sizes})"
