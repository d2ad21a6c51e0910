"""What a person reads off the page and takes away from it, in a real browser: numbers, lists, links, files, reports."""

import io
import xml.etree.ElementTree as ET

import numpy as np
import PIL.Image
import pytest
from small_networks import LINE_DT, MEMORY_TAU
from window import Window, colours, number

import gnode
from gnode.explorer import shipped_names
from gnode.explorer._shipped import WITHOUT_TRIALS

SVG = "{http://www.w3.org/2000/svg}"
CARD = "seen.facts('[data-test=hover]')"


def test_hovering_shows_the_numbers_of_a_state(explore):
    window = explore("line")
    facts = window.hover(0.5, 0)
    assert number(facts["state"]) == pytest.approx(0.5, abs=window.pixel)
    assert number(facts["speed"]) == pytest.approx(0.5 - 0.125, abs=0.01)
    assert number(facts["eigenvalues here"]) == pytest.approx(1 - 3 * 0.25, abs=0.03)
    later = window.wait(f"{CARD}['memory time'] !== '\u2026' && {CARD}")
    # From 0.5 to 0.6 the flow takes log(0.6 / 0.8) - log(0.5 / sqrt(0.75)) seconds; a bin is the least that is told apart.
    exact = np.log(0.75) - np.log(0.5 / np.sqrt(0.75))
    seconds = number(later["memory time"]) * (0.001 if "ms" in later["memory time"] else 1)
    assert exact - 0.01 <= seconds <= exact + LINE_DT + 0.01
    window.page.mouse.move(2, 2)
    window.wait("seen.part('hover').hidden")


def test_hovering_shows_the_numbers_of_a_fixed_point(explore):
    window = explore("memory")
    facts = window.hover(1, 1)
    title = window.get("seen.part('hover').querySelector('.hover-title').textContent")
    assert title.endswith("stable")
    rate = 2 / (1 + np.exp(-2)) / MEMORY_TAU
    assert number(facts["eigenvalues"]) == pytest.approx(-rate, rel=0.01)
    assert number(facts["time constants"]) == pytest.approx(1000 / rate, rel=0.01)
    assert number(facts["gate"]) == pytest.approx(1 / (1 + np.exp(-2)), abs=0.01)
    assert number(facts["residual"]) < 1e-6
    assert number(facts["speed"]) < 1e-6
    assert facts["memory time"] == "unlimited"
    assert "lost" in window.hover(0, 0)["memory time"]


def test_list_and_portrait_select_each_other(explore):
    window = explore("memory")
    selected = "seen.marks(0).filter((mark) => mark.selected).map((mark) => mark.id)"
    rows = "[...document.querySelectorAll('[data-test=points] tr.selected button')].map((name) => Number(name.textContent))"
    window.click(1, -1)
    window.frames(2)
    (point,) = window.get(selected)
    assert window.get(rows) == [point]
    assert number(window.get("seen.facts('[data-test=point-details]').state")) == pytest.approx(1)
    assert window.get("seen.launches(0)") == []  # a click on a point selects, and launches nothing
    other = next(mark["id"] for mark in window.get("seen.marks(0)") if mark["id"] != point)
    window.part(f"point-{other}").click()
    window.frames(2)
    assert window.get(selected) == window.get(rows) == [other]
    window.page.keyboard.press("]")
    window.frames(2)
    assert window.get(selected) != [other]
    window.page.keyboard.press("[")
    window.frames(2)
    assert window.get(selected) == [other]
    window.part(f"point-{other}").click()
    window.frames(2)
    assert window.get(selected) == window.get(rows) == []


def test_a_link_brings_someone_else_to_the_same_view(explore, new_window):
    window = explore("memory", theme="dark")
    window.click(0.5, 1.5)
    window.slide("input-1", 0.2)
    window.slide("tau", 0.3)
    window.slide("dt", -0.2)
    window.slide("noise", 0.1)
    window.slide("pace", 0.5)
    window.part("open-gate").check()
    window.page.keyboard.press("m")
    for layer in ("nullclines", "paths"):
        window.part(f"layer-{layer}").check()
    window.part("layer-region").uncheck()
    window.drag((0.5, 0.5), (0.7, 0.3))
    window.part("trial").select_option(label="trial 2")
    window.slide("scrub", 21)
    window.rest()
    window.page.wait_for_timeout(450)
    window.part("point-1").click()
    window.rest()
    link = window.link()
    wanted = {
        "limits",
        "input",
        "tau",
        "dt",
        "noise",
        "pace",
        "gate",
        "mode",
        "show",
        "launch",
        "trial",
        "bin",
        "point",
        "theme",
    }
    assert wanted <= set(link)
    other = new_window(reduced_motion="reduce")
    other.page.goto(window.page.url)
    other.wait("globalThis.gnodeExplorer?.stats()?.frames > 0")
    other.rest()
    before, after = window.get("seen.settings()"), other.get("seen.settings()")
    np.testing.assert_allclose(sorted(after.pop("marks")), sorted(before.pop("marks")), atol=0.2)
    np.testing.assert_allclose(after.pop("launches"), before.pop("launches"), atol=0.2)
    np.testing.assert_allclose(after.pop("live"), before.pop("live"), atol=1)
    for slider, (name, value) in zip(after.pop("sliders"), before.pop("sliders")):
        assert slider[0] == name
        assert slider[1] == pytest.approx(value, abs=1e-3), name
    assert after == before
    assert other.link() == link


def test_a_link_that_is_typed_is_followed_and_one_that_makes_no_sense_is_ignored(explore):
    window = explore("memory", limits=(-3.0, 3.0, -3.0, 3.0))
    window.page.evaluate("() => void (location.hash = 'input=0.5,0&mode=map')")
    window.wait("Number(seen.part('input-0').value) === 0.5 && seen.part('mode-1').checked")
    window.rest()
    nonsense = (
        "limits=1,2,a,b&input=x,y&network=9&compare=7&plane=outputs:8,9&trial=99&bin=-3&point=z&camera=1&tau=-1&noise=1e99"
        "&launch=;;,&depths=nan&show=%3Cscript%3E&theme=pink&constructor=1&__proto__=2&=&%E0%A4%A"
    )
    window.page.evaluate("(text) => void (location.hash = text)", nonsense)
    window.wait("Number(seen.part('input-0').value) === 0 && seen.part('mode-0').checked")
    window.rest()
    plain = explore("memory")
    plain.page.goto(plain.page.url.partition("#")[0] + "#" + nonsense)
    plain.page.reload()
    plain.wait("globalThis.gnodeExplorer?.stats()?.points === 9")
    plain.rest()


def downloaded(window: Window, test: str) -> tuple[str, bytes]:
    with window.page.expect_download() as waiting:
        window.part(test).click()
    found = waiting.value
    return found.suggested_filename, found.path().read_bytes()


def test_a_picture_as_png(explore):
    window = explore("memory")
    name, data = downloaded(window, "export-png")
    assert name == "memory.png"
    picture = PIL.Image.open(io.BytesIO(data))
    picture.load()
    stage = window.get("[document.querySelector('.stage').clientWidth, document.querySelector('.stage').clientHeight]")
    assert list(picture.size) == [2 * side for side in stage]
    pixels = np.asarray(picture.convert("RGB"))
    assert colours(pixels) > 20
    # The flow is in it, and not an empty frame: the middle of the plot has the colours that are on the page.
    shown = window.picture()
    middle = lambda image: image[image.shape[0] // 4 : image.shape[0] // 2, image.shape[1] // 3 : image.shape[1] // 2]  # noqa: E731
    np.testing.assert_allclose(middle(pixels).mean(axis=(0, 1)), middle(shown).mean(axis=(0, 1)), atol=6)


@pytest.mark.parametrize("name", ["memory", "space", "compared"])
def test_a_drawing_as_svg(explore, name):
    window = explore(name, **({"compare": 1} if name == "compared" else {}))
    file, data = downloaded(window, "export-svg")
    assert file.endswith(".svg")
    root = ET.fromstring(data)
    assert root.tag == f"{SVG}svg"
    tags = {part.tag for part in root.iter()}
    assert not tags & {f"{SVG}script", f"{SVG}foreignObject", f"{SVG}style"}
    for part in root.iter():
        assert not any(attribute.lower().startswith("on") for attribute in part.attrib)
        assert "javascript:" not in " ".join(part.attrib.values())
    panes = 2 if name == "compared" else 1
    images = list(root.iter(f"{SVG}image"))
    assert len(images) == panes
    assert all(image.attrib["href"].startswith("data:image/png;base64,") for image in images)
    words = {text for part in root.iter(f"{SVG}text") for text in part.itertext()}
    assert set(window.get("seen.axes(0)")) <= words
    assert len([part for part in root.iter() if "data-point" in part.attrib]) == window.get(
        "document.querySelectorAll('.mark').length"
    )
    # It is drawn as it is on the page, by a program that has never seen the style sheet.
    other = window.page.context.new_page()
    other.set_content(data.decode().partition("?>")[2])
    drawn = np.asarray(PIL.Image.open(io.BytesIO(other.locator("svg").first.screenshot())).convert("RGB"))
    shown = window.picture()
    height, width = shown.shape[:2]
    np.testing.assert_allclose(drawn[:height, :width].mean(axis=(0, 1)), shown.mean(axis=(0, 1)), atol=8)


def test_less_motion_is_honoured(explore):
    window = explore("memory")
    assert not window.get("seen.part('motion').checked")
    window.page.mouse.move(2, 2)
    first = window.picture()
    window.frames(8)
    np.testing.assert_array_equal(window.picture(), first)
    window.part("motion").check()
    window.page.mouse.move(2, 2)
    window.frames(8)
    assert np.mean(window.picture() != first) > 0.001


def test_slow_states_paths_and_nullclines(explore):
    window = explore("memory")
    window.part("layer-nullclines").check()
    window.part("layer-paths").check()
    window.rest()
    drawn = window.get("[...document.querySelectorAll('.layer-lines path')].map((path) => path.getAttribute('class'))")
    assert {"nullcline nullcline-1", "nullcline nullcline-2"} <= set(drawn)
    assert window.get("document.querySelectorAll('.layer-runs path').length") == 20
    # The first state stands still where it is -1, 0 or 1, whatever the second is.
    text = window.get("document.querySelector('.nullcline-1').getAttribute('d')")
    places = np.array([list(map(float, pair.split()[:2])) for pair in text.replace("L", "M").split("M")[1:]])
    nearest = np.abs(window.coordinates(places)[:, :1] - [-1, 0, 1]).min(axis=1)
    assert np.quantile(nearest, 0.95) < 0.05


def test_the_report_of_a_run_is_such_a_page(new_window, report_page):
    """Verdict and portrait first, then what a report says, its tables folded away."""
    window = new_window(reduced_motion="reduce").open(report_page)
    assert len(window.text("verdict")) > 20
    window.part("trial").select_option(label="trial 1")
    window.slide("scrub", 3)
    window.rest()
    assert "the trained solver" in window.text("trial-words")
    headings = window.get("[...document.querySelectorAll('h2')].map((part) => part.textContent)")
    assert headings.count("Fixed points") == 1
    order = window.get("[...document.querySelectorAll('h1, .stage, .gnode-report h2')].map((part) => part.textContent)")
    assert order.index("Training") > 1
    figures = window.get(
        "[...document.querySelectorAll('.gnode-report img')].map((figure) => [figure.naturalWidth, figure.alt])"
    )
    assert figures
    assert all(width > 100 and words for width, words in figures)
    fold = window.page.locator("details.gnode-fold").first
    assert not fold.locator("table, p, pre").first.is_visible()
    fold.locator("summary").first.click()
    assert fold.locator("table, p, pre").first.is_visible()
    window.to_portrait()  # out of sight, the explorer rests
    for width in (1400, 360):
        window.page.set_viewport_size({"width": width, "height": 800})
        window.frames(2)
        assert window.get("document.documentElement.scrollWidth") <= width
    assert report_page.stat().st_size < 3_000_000


def test_the_networks_that_come_with_gnode(new_window, tmp_path):
    names = shipped_names()
    if not names:
        pytest.skip("no network comes with this gnode.")
    window = new_window(reduced_motion="reduce")
    for name in names:
        window.open(gnode.explore(name).save(tmp_path / f"{name}.html"))
        assert window.get("gnodeExplorer.stats().points") >= 1, name
        assert colours(window.picture()) > 10, name
        assert len(window.text("verdict")) > 20, name
        has_trials = gnode.explore(name).document["networks"][0]["trials"] is not None
        said = window.part("without-trials").all_text_contents()
        assert said == ([] if has_trials else [WITHOUT_TRIALS]), name


def test_what_was_not_trained_is_not_called_so(new_window, tmp_path):
    page = gnode.explore(gnode.cells.gru(1, 2, key=0), starts=10, dt=0.1).save(tmp_path / "fresh.html")
    window = new_window(reduced_motion="reduce").open(page)
    words = window.get("document.body.innerText")
    assert "train" not in words.lower()
    assert "one step of the solver (euler)" in words
    assert "There are no trials" in window.text("without-trials")
