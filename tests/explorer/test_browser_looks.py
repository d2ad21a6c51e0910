"""That nothing hides anything, and everything that is drawn is explained, in a real browser."""

import pytest


def test_stable_points_lie_above_the_others_and_the_live_state_hides_none(explore):
    window = explore("memory", moving=True, pace=10)
    assert window.get("seen.stacked(0)") == ["unstable"] + ["saddle"] * 4 + ["stable"] * 4
    live = "document.querySelector('[data-test=live]')"
    (a, b), ring = window.live(), f"getComputedStyle({live}).fill === 'none' && Number({live}.getAttribute('r')) > 8"
    assert any((abs(point - (a, b)) < 2 * window.pixel).all() for point in window.points())
    assert window.get(ring)
    window.drag((a, b), (0.4, 0.5), release=False)
    window.frames(3)
    assert not window.get(ring)
    window.page.mouse.up()
    window.wait(ring)


def test_lines_arrows_and_colours_are_explained(explore):
    window = explore("memory")
    assert "orange dot, the live state" in window.text("caption")
    assert "arrows, eigenvectors" in window.text("caption")
    assert "training trajectories" not in window.text("caption")
    window.part("layer-vectors").uncheck()
    window.part("layer-paths").check()
    window.wait("seen.part('caption').textContent.includes('thin lines, training trajectories')")
    assert "eigenvectors" not in window.text("caption")
    assert window.get("[...seen.part('channels').children].map((item) => item.textContent)") == [
        "input 1, output 1",
        "input 2, output 2",
        "dashed line or ring: target",
    ]
    colours = window.get(
        "[...document.querySelectorAll('.swatch')].map((each) => getComputedStyle(each).backgroundColor)"
    )
    assert len(set(colours[:2])) == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_button_says_what_it_will_do(explore, scheme):
    window = explore("line", options={"color_scheme": scheme})
    words = ["Dark", "Light"] if scheme == "light" else ["Light", "Dark"]
    assert window.text("theme") == words[0]
    window.part("theme").click()
    assert window.text("theme") == words[1]


def test_a_table_that_is_wider_than_the_window_says_so(explore):
    window = explore("memory", width=360)
    assert window.part("points-scroll").is_visible()
    window.page.set_viewport_size({"width": 1400, "height": 800})
    window.wait("seen.part('points-scroll').hidden")


def test_no_number_at_the_axis_is_cut(explore):
    """A tick at the very edge of the plot has its number inside of the drawing."""
    window = explore("memory", limits=(-2.0, 2.0, -2.0, 2.0))
    right = window.get("document.querySelector('.overlay').getBoundingClientRect().right")
    ends = window.get("[...document.querySelectorAll('.tick-label')].map((text) => text.getBoundingClientRect().right)")
    assert max(ends) <= right + 0.5


def test_while_a_slider_moves_less_is_drawn_and_all_of_it_when_it_rests(explore):
    window = explore("memory", moving=True)
    region = "getComputedStyle(document.querySelector('.region')).strokeDasharray"
    full = window.get(region)
    window.page.evaluate(
        """() => {
            let k = 0;
            globalThis.moving = setInterval(() => {
                const slider = seen.part("input-0");
                slider.value = String(0.3 * Math.sin(++k / 10));
                slider.dispatchEvent(new Event("input", { bubbles: true }));
            }, 5);
        }"""
    )
    window.wait(f"{region} === 'none'")
    window.frames(8)  # however slow frames are, a flow that changes between them is not at rest
    assert window.get(region) == "none"
    window.page.evaluate("() => clearInterval(moving)")
    window.wait(f"{region} === '{full}'")
