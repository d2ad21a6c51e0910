"""What a person does to the portrait, in a real browser: launches, drags and pushes states, moves sliders, plays trials."""

import numpy as np
import pytest
from small_networks import (
    FOLD,
    LINE_DT,
    MEMORY_DT,
    MEMORY_TAU,
    TRIAL_BINS,
    euler_path,
    memory_field,
    memory_trials,
    rk4_path,
)
from window import number

CORNERS = [(a, b) for a in (-1.0, 0.0, 1.0) for b in (-1.0, 0.0, 1.0)]
PATH_DONE = "seen.launches(0).length > 0 && !gnodeExplorer.stats().busy"


def distance_to(path, places):
    """The distance of each place from a path of many states, as a line through them."""
    start, step = path[:-1, None], np.diff(path, axis=0)[:, None]
    along = np.sum((places - start) * step, axis=-1) / np.maximum(np.sum(step**2, axis=-1), 1e-300)
    nearest = start + np.clip(along, 0, 1)[..., None] * step
    return np.linalg.norm(nearest - places, axis=-1).min(axis=0)


def grown(window, start):
    """The one launched trajectory, once all of it is drawn."""
    window.wait(PATH_DONE)
    window.frames(2)
    (path,) = window.launches()
    np.testing.assert_allclose(path[0], start, atol=window.pixel)
    return path


def test_a_click_launches_a_trajectory_that_follows_the_flow(explore):
    window = explore("memory")
    start = (0.15, -1.7)
    window.click(*start)
    path = grown(window, start)
    expected = rk4_path(memory_field, window.launches()[0][0], 0.01, 2000)
    assert distance_to(expected, path).max() < 1.5 * window.pixel
    np.testing.assert_allclose(path[-1], [1, -1], atol=2 * window.pixel)
    assert "launched" in window.text("announcer")
    (at,) = window.link()["launch"].split(";")
    np.testing.assert_allclose(np.fromstring(at, sep=",")[:2], start, atol=window.pixel)


def test_a_trajectory_of_the_map_jumps_by_steps_of_the_solver(explore):
    """The time step is so long that flow and map part."""
    window = explore("memory", mode="map", dt=6)
    start = (0.15, -1.7)
    window.click(*start)
    path = grown(window, start)
    expected = euler_path(memory_field, path[0], 6 * MEMORY_DT, len(path) - 1)
    np.testing.assert_allclose(path[:6], expected[:6], atol=3 * window.pixel)


def test_the_live_state_is_dragged_and_then_falls_back(explore):
    window = explore("memory", moving=True, pace=10)
    begin = window.live()
    assert np.abs(begin).max() < 1.1
    end = (0.3, 1.6)
    window.drag(tuple(begin), end, release=False)
    window.frames(3)
    np.testing.assert_allclose(window.live(), end, atol=2 * window.pixel)  # held, it does not move
    window.page.mouse.up()
    window.wait_near("seen.live(0)", 1, 1)


@pytest.mark.parametrize("moving", [True, False], ids=["moving", "still"])
def test_the_start_of_a_trajectory_is_dragged(explore, moving):
    window = explore("memory", moving=moving, pace=10)
    start, end = (0.15, -1.7), (-0.5, 1.7)
    window.click(*start)
    if moving:  # the live state goes along the trajectory, and is out of the way
        window.wait(f"seen.live(0)[1] < {window.in_plot(*start)[1] - 50}")
    window.drag(start, end)
    window.wait_near("seen.launches(0)[0].at(-1)", -1, 1, seconds=10)
    np.testing.assert_allclose(window.launches()[0][0], end, atol=window.pixel)


def test_the_view_is_moved_and_zoomed(explore):
    window = explore("memory")
    window.drag((0.5, 0.5), (0.9, 0.5))
    left, right, bottom, top = np.fromstring(window.link()["limits"], sep=",")
    np.testing.assert_allclose([left, right, bottom, top], [-2.4, 1.6, -2, 2], atol=2 * window.pixel)
    window.limits = (left, right, bottom, top)
    window.rest()
    expected = sorted(corner for corner in CORNERS if left < corner[0] < right)
    np.testing.assert_allclose(window.points(), expected, atol=2 * window.pixel)
    window.part("zoom-fit").click()
    assert "limits" not in window.link()
    window.part("zoom-in").click()
    assert "limits" in window.link()
    window.part("zoom-fit").click()
    window.to_portrait()
    window.page.mouse.move(*window.place(0, 0))
    window.page.keyboard.down("Control")
    window.page.mouse.wheel(0, -200)
    window.page.keyboard.up("Control")
    window.frames(2)
    assert "limits" in window.link()


@pytest.mark.parametrize("by", ["key", "button", "space bar on the button"])
def test_a_pulse_is_stored(explore, by):
    """The state leaves its corner only if it is pushed for long enough, and stays where it was pushed."""
    window = explore("memory", moving=True, pace=5)
    a, b = np.sign(window.live())
    shift, middle = a > 0, window.in_plot(0, 0)[0]
    button = window.part(f"pulse-0-{'minus' if shift else 'plus'}")
    keyboard = window.page.keyboard
    crossed = f"seen.live(0)[0] {'<' if shift else '>'} {middle - 40 * a}"
    if by == "key":
        if shift:
            keyboard.down("Shift")
        keyboard.down("Digit1")
        window.wait(crossed)
        keyboard.up("Digit1")
        keyboard.up("Shift")
    elif by == "button":
        button.hover()
        window.page.mouse.down()
        window.wait(crossed)
        window.page.mouse.up()
    else:
        button.focus()
        keyboard.down("Space")
        window.wait(crossed)
        keyboard.up("Space")
    window.wait_near("seen.live(0)", -a, b)
    window.frames(20)
    np.testing.assert_allclose(window.live(), [-a, b], atol=2 * window.pixel)
    assert "input 0.00, 0.00" in window.text("trial-words")


def test_fixed_points_glide_along_an_input_until_two_of_them_meet(explore):
    window = explore("line")
    np.testing.assert_allclose(window.points()[:, 0], [-1, 0, 1], atol=window.pixel)
    x = window.slide("input-0", 0.3)
    assert x == pytest.approx(0.3)
    roots = np.sort(np.roots([-1, 0, 1, x]).real)
    window.wait_near("seen.marks(0)[0].place", roots[0], 0)
    np.testing.assert_allclose(window.points()[:, 0], roots, atol=window.pixel)
    assert window.get("seen.events()") == []
    window.slide("input-0", 0.6)
    (event,) = window.wait("seen.events().length === 1 && seen.events()")
    assert "a stable point and an unstable point vanish" in event
    step = 1.5 / 30
    assert FOLD - 0.01 <= number(event.partition("input 1 ")[2]) <= FOLD + step
    assert window.get("seen.kinds()") == ["stable"]
    assert "vanish" in window.text("announcer")
    window.part("event").first.get_by_role("button").click()
    assert window.get("Number(seen.part('input-0').value)") == pytest.approx(
        number(event.partition("input 1 ")[2]), abs=0.02
    )
    window.part("reset-inputs").click()
    assert window.get("Number(seen.part('input-0').value)") == 0


def test_two_points_are_born_where_they_died(explore):
    window = explore("line", input=0.6)
    assert window.get("seen.kinds()") == ["stable"]
    window.slide("input-0", 0.1)
    window.wait("seen.marks(0).length === 3")
    window.page.wait_for_timeout(450)  # when the slider has rested for a while, points are looked for everywhere
    window.rest()
    assert sorted(window.get("seen.kinds()")) == ["stable", "stable", "unstable"]
    events = window.get("seen.events()")
    assert all("born" in event for event in events)
    words = " ".join(events)
    assert "a stable point" in words
    assert "an unstable point" in words
    for event in events:
        assert FOLD - 1.5 / 30 <= number(event.partition("input 1 ")[2]) <= FOLD + 0.01


def test_a_point_changes_its_stability_along_the_time_step_of_the_map(explore):
    """The multiplier at h = 1 is 1 - 2 dt, which is below -1 from dt = 1 on."""
    window = explore("line", mode="map")
    assert sorted(window.get("seen.kinds()")) == ["stable", "stable", "unstable"]
    window.slide("dt", 0.6)
    window.rest()
    assert sorted(window.get("seen.kinds()")) == ["stable", "stable", "unstable"]
    window.slide("dt", 0.9)
    event = window.wait("seen.events()[0]")
    assert "a stable point becomes unstable" in event
    window.wait("seen.kinds().every((kind) => kind === 'unstable')")
    assert window.text("point-details") == ""
    window.click(1, 0)
    multiplier = number(window.get("seen.facts('[data-test=point-details]')")["multipliers"])
    assert multiplier == pytest.approx(1 - 2 * LINE_DT * 10**0.9, rel=0.01)


def test_tau_slows_the_flow_and_the_gate_can_be_held_open(explore):
    window, at = explore("memory"), (0.5, -0.5)
    h = np.array(at)
    speed = lambda: number(window.hover(*at)["speed"])  # noqa: E731
    expected = np.linalg.norm(memory_field(h))
    assert speed() == pytest.approx(expected, rel=0.02)
    gate = number(window.hover(*at)["gate"])
    assert gate == pytest.approx(1 / (1 + np.exp(-1.5)), abs=0.02)
    assert window.slide("tau", 1.0) == 1.0
    assert speed() == pytest.approx(expected / 10, rel=0.02)
    assert window.link()["tau"] == "10"
    window.slide("tau", 0.0)
    window.part("open-gate").check()
    assert speed() == pytest.approx(np.linalg.norm(memory_field(h, open_gate=True)), rel=0.02)
    assert "gate is held open" in window.wait(
        "seen.part('caption').textContent.includes('gate') && seen.part('caption').textContent"
    )
    window.part("open-gate").uncheck()
    assert speed() == pytest.approx(expected, rel=0.02)


def test_tau_holds_for_a_launched_trajectory(explore):
    """The path of the flow is the same however slow it is, also the one that was launched before."""
    window = explore("memory")
    window.click(0.15, -1.7)
    before = grown(window, (0.15, -1.7))
    window.slide("tau", -0.5)
    window.rest()
    after = grown(window, (0.15, -1.7))
    assert distance_to(after, before[:-1]).max() < 2 * window.pixel


def test_noise_shakes_the_live_state(explore):
    window = explore("memory", moving=True)
    before = window.live()
    window.frames(10)
    np.testing.assert_array_equal(window.live(), before)
    window.slide("noise", 0.5)
    window.wait(f"!seen.near(seen.live(0), {window.in_plot(*before)}, 5)")
    assert window.link()["noise"] == "0.5"
    window.slide("noise", 0.0)
    window.wait_near("seen.live(0)", *before)


def test_flow_and_map(explore):
    window, at = explore("memory", dt=5), (0.5, -0.5)
    assert "eigenvalues here" in window.hover(*at)
    window.page.get_by_text("map", exact=True).click()
    facts = window.hover(*at)
    assert "multipliers here" in facts
    step = euler_path(memory_field, np.array(at), 5 * MEMORY_DT, 1)
    moved = np.linalg.norm(step[1] - step[0]) / (5 * MEMORY_DT)
    assert number(facts["speed"]) == pytest.approx(moved, rel=0.02)
    assert window.get("seen.part('caption').textContent").startswith("Map of")
    window.page.keyboard.press("m")
    assert "eigenvalues here" in window.hover(*at)
    window.frames(2)
    assert window.get("seen.part('caption').textContent").startswith("Flow of")


def test_trials_play_and_pause_and_are_scrubbed(explore):
    window, trials = explore("memory", moving=True, pace=0.5), memory_trials()
    window.part("trial").select_option(label="trial 1")
    window.wait("Number(seen.part('scrub').value) > 2")  # it plays by itself
    assert window.text("play") == "Pause"
    window.part("play").click()
    stopped = window.get("Number(seen.part('scrub').value)")
    window.frames(10)
    assert window.get("Number(seen.part('scrub').value)") == stopped
    for place in (5, 15, TRIAL_BINS - 1):
        window.slide("scrub", place)
        window.rest()
        np.testing.assert_allclose(window.live(), trials["outputs"][0, place], atol=window.pixel)
    window.slide("scrub", 12)
    window.frames(2)
    error = np.sqrt(np.mean((trials["targets"] - trials["outputs"])[0, 12] ** 2))
    assert number(window.text("trial-words").partition("Error at 1.2\u00a0s: ")[2]) == pytest.approx(error, rel=0.05)
    window.part("trial").select_option(label="trial 2")
    window.rest()
    assert window.get("Number(seen.part('scrub').max)") == 39  # the second trial is shorter
    window.page.keyboard.press("Escape")
    window.part("portrait").focus()
    window.slide("scrub", 10)
    for key, place in ((".", 11), (".", 12), (",", 11)):
        window.page.keyboard.press(key)
        assert window.get("Number(seen.part('scrub').value)") == place
    window.frames(2)
    np.testing.assert_allclose(window.live(), trials["outputs"][1, 11], atol=window.pixel)
    window.page.keyboard.press("Space")
    window.wait("Number(seen.part('scrub').value) > 12")
    window.part("speed").select_option(label="4×")
    window.wait("seen.part('play').textContent === 'Play'")  # the end
    assert window.get("Number(seen.part('scrub').value)") == 39
    window.part("trial").select_option(index=0)
    window.wait("seen.part('trial-words').textContent.includes('live state')")


def test_a_trial_of_a_classification_says_the_right_class(explore):
    """The answer counts in the last bin only: the words look ahead to it, and the drawing marks it."""
    window = explore("letters", trial=0, bin=10)
    end = f"The right class at {(TRIAL_BINS - 1) * MEMORY_DT:g}\u00a0s is"
    assert f'{end} "b", and the network gives it.' in window.text("trial-words")
    window.slide("scrub", TRIAL_BINS - 1)
    window.frames(2)
    assert 'The right class is "b", and the network gives it.' in window.text("trial-words")
    window.part("trial").select_option(label="trial 2")
    window.rest()
    window.frames(2)
    assert 'is "a", but the network gives "b".' in window.text("trial-words")
    # The second output is below its target, 0, nowhere near the end; the mark of the first is at 1, above all outputs.
    window.slide("scrub", 5)
    window.frames(2)
    picture = window.picture("traces").astype(int)
    colour = window.get("getComputedStyle(seen.part('explorer')).getPropertyValue('--channel-0')")
    assert colour
    near_end = picture[picture.shape[0] // 2 :, -40:]
    is_first = np.abs(near_end - [0, 114, 178]).max(axis=-1) < 40
    rows = np.flatnonzero(is_first.any(axis=1))
    assert np.diff(rows).max() > 5  # a mark, and apart from it the output's line
    assert is_first.sum() > 30


def test_a_trial_under_another_tau_is_another_trial(explore):
    """What a trial shows is run in the page, not played back."""
    window = explore("memory", trial=0, bin=TRIAL_BINS - 1)
    assert window.live()[0] == pytest.approx(memory_trials()["outputs"][0, -1, 0], abs=window.pixel)
    window.slide("tau", 0.5)
    window.rest()
    h = np.zeros(2)
    for x in memory_trials()["inputs"][0]:
        h = h + MEMORY_DT * memory_field(h, x) / 10**0.5
    np.testing.assert_allclose(window.live(), h, atol=window.pixel)


def test_time_constants_of_points(explore):
    """At (1, 1) both directions shrink at the rate 2 sigmoid(2) / tau."""
    window = explore("memory")
    window.click(1, 1)
    facts = window.get("seen.facts('[data-test=point-details]')")
    rate = 2 / (1 + np.exp(-2)) / MEMORY_TAU
    assert number(facts["eigenvalues"]) == pytest.approx(-rate, rel=0.01)
    assert number(facts["time constants"]) == pytest.approx(1000 / rate, rel=0.01)
