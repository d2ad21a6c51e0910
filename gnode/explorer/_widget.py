"""The explorer as a widget of Jupyter, marimo and Colab, by anywidget. It runs the same script as the page."""

from typing import Any

import anywidget  # type: ignore[import-not-found]
import traitlets  # type: ignore[import-not-found]

from gnode.explorer._page import as_json, script

RENDER = """
export default {
  render({ model, el }) {
    const shown = globalThis.gnodeExplorer.mount(el, JSON.parse(model.get("document")), { link: false });
    return () => shown.destroy();
  },
};
"""


class ExplorerWidget(anywidget.AnyWidget):  # type: ignore[misc]
    """Shows a document of the explorer, which it holds as JSON."""

    _esm = f"{script()}\n{RENDER}"
    document = traitlets.Unicode("").tag(sync=True)  # type: ignore[no-untyped-call]


def widget_of(document: dict[str, Any]) -> ExplorerWidget:
    """Makes the widget of a document."""
    return ExplorerWidget(document=as_json(document))
