"""The explorer without a pointer, in a real browser: everything has a name, is reached by keys, and shows where one is."""

import numpy as np
import pytest
from small_networks import memory_field
from window import number


@pytest.mark.parametrize("name", ["memory", "space", "film"])
def test_everything_has_a_name_and_is_reached_by_tab(explore, name):
    window = explore(name)
    assert window.get("seen.nameless()") == []
    window.page.mouse.click(2, 2)
    for _ in range(window.get("seen.reachable().length") + 3):
        window.page.keyboard.press("Tab")
        focused = window.get("seen.focus()")
        if focused is None:
            break
        assert focused["outlined"], focused["words"]
    assert window.get("seen.reachable().filter((part) => !seen.reached.has(part)).map((part) => part.outerHTML)") == []
    assert window.get("seen.part('announcer').getAttribute('aria-live')") == "polite"
    assert window.get("document.documentElement.lang") == "en"
    assert window.get("document.querySelectorAll('h1').length") == 1


def test_by_keys_alone(explore):
    window = explore("memory")
    press = window.page.keyboard.press
    while not window.get("document.activeElement.matches('.stage')"):
        press("Tab")
    for _ in range(4):
        press("ArrowRight")
    press("ArrowUp")
    at = np.fromiter(map(number, window.wait("seen.facts('[data-test=hover]').state").split(",")), float)
    step = 4 / 40
    plot = window.get("seen.plot(0)")
    np.testing.assert_allclose(at, [4 * step, step * plot["width"] / plot["height"]], atol=0.02)
    assert number(window.get("seen.facts('[data-test=hover]')")["speed"]) == pytest.approx(
        np.linalg.norm(memory_field(at)), rel=0.03
    )
    assert "At the crosshair" in window.text("announcer")
    press("Enter")
    window.wait("seen.launches(0).length === 1")
    window.rest()
    np.testing.assert_allclose(window.launches()[0][0], at, atol=0.02)
    press("c")
    window.wait("seen.launches(0).length === 0")
    press("]")
    assert "Point" in window.text("announcer")
    press("Escape")
    window.frames(2)
    assert window.get("seen.marks(0).some((mark) => mark.selected)") is False
    axes = window.get("seen.axes(0)")
    press("+")
    window.frames(2)
    assert window.get("seen.axes(0)") != axes
    press("Shift+ArrowLeft")
    press("-")
    press("0")
    press("g")
    assert window.get("seen.part('open-gate').checked")
    press("m")
    assert window.get("seen.part('mode-1').checked")
    press("s")
    assert window.get("seen.part('motion').checked")
    press("?")
    assert window.get("seen.part('help').open")
    press("Escape")
    assert not window.get("seen.part('help').open")
    press("g")  # the dialog has given the keys back
    assert not window.get("seen.part('open-gate').checked")
    window.part("tau").focus()
    press("ArrowRight")
    assert window.get("Number(seen.part('tau').value)") == pytest.approx(0.02)
