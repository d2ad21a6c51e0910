"""The page of a run for a report: the explorer, with what was found, above the report's own text."""

from gnode.analysis import Findings
from gnode.explorer._document import network_document
from gnode.explorer._explore import FORMAT
from gnode.explorer._page import page
from gnode.explorer._sources import run_subject
from gnode.network import Network
from gnode.programs import NotExportable
from gnode.train import Run

__all__ = ["NotExportable", "run_page"]


def run_page(run: Run, net: Network, *, name: str, title: str, verdict: str, found: Findings, below: str) -> str:
    """Returns the explorer's page of a run as HTML.

    **Arguments:** `run` and its network; `name`, `title` and `verdict`, the words of the page; `found`, the findings, of
    which the fixed points and the slow set are shown; `below`, HTML that stands below the explorer, with all text escaped.

    **Raises:** `NotExportable` if the page cannot compute the network's flow.
    """
    subject = run_subject(run, net, name, found.x)
    slow = None if found.attractor is None else found.attractor.points
    network = network_document(subject, found.fixed_points, slow)
    return page({"format": FORMAT, "title": title, "verdict": verdict, "networks": [network]}, below)
