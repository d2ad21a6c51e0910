"""Which fixed points the page finds, and what it tells of them, in a real browser."""

import numpy as np
from small_networks import DOCUMENTS


def test_every_isolated_point_is_shown_however_many_there_are(explore):
    points = DOCUMENTS["many"]()["networks"][0]["points"]
    assert [point["kind"] for point in points].count("stable") == 64
    window = explore("many", limits=(-1.5, 1.5, -1.5, 1.5))
    assert window.text("kinds").startswith("64 stable")
    assert window.get("seen.marks(0).length") == window.get("gnodeExplorer.stats().points")


def test_a_continuum_is_shown_evenly(explore):
    """All round the circle, and not only where its first points are."""
    window = explore("circle")
    angles = np.sort([np.arctan2(b, a) for a, b in window.points() if np.hypot(a, b) > 0.5])
    gaps = np.diff([*angles, angles[0] + 2 * np.pi])
    assert 50 < len(angles) <= 120
    assert gaps.max() < 0.2
    assert gaps.max() < 6 * np.median(gaps)


def test_the_first_search_finds_what_lies_between_the_stable_points(explore):
    """No trajectory comes near the saddles: nothing of the document leads to them."""
    window = explore("bits")
    assert window.text("kinds") == "8 stable18 saddle1 unstable"
    assert window.get("seen.events()") == []
    window.slide("input-0", 0.1)
    window.wait("!gnodeExplorer.stats().busy")
    window.slide("input-0", 0.0)
    window.page.wait_for_timeout(450)
    window.rest()
    assert window.text("kinds") == "8 stable18 saddle1 unstable"
