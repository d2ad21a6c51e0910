"""The explorer's page in a real browser: it opens from a file, asks for nothing, shows text as text, and fits every window.

Every test fails if the page requests anything, or says anything on the console; see `new_window` in conftest.py.
"""

import re

import numpy as np
import pytest
from small_networks import MARKUP, document_in, page_file
from window import colours, number

from gnode.explorer import Portrait

SIZES = {"line": 1, "memory": 2, "space": 3, "lstm": 4, "six": 6, "hundred": 100}


def test_opens_from_a_file_with_one_request(explore, page_folder):
    window = explore("line")
    entries = window.get("performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert entries == []
    assert window.page.url.startswith(page_file("line", page_folder).as_uri())
    assert window.text("title") == "line"
    assert window.page.title() == "line"
    assert "1 state, 1 input" in window.text("kicker")
    assert colours(window.picture()) > 20
    assert window.get("gnodeExplorer.stats()")["particles"] == 2000


ATTACKS = """() => new Promise((resolve) => {
    const found = { blocked: [], errors: [] };
    addEventListener("securitypolicyviolation", (event) => found.blocked.push(event.effectiveDirective));
    // Later, when it is the page's own code that runs and not the test's, which may do everything.
    setTimeout(() => {
        for (const attack of [() => (0, eval)("1"), () => new Function("return 1")()])
            try { attack(); } catch (error) { found.errors.push(error.name); }
        const script = document.createElement("script");
        script.textContent = "globalThis.ran = true";
        const far = document.createElement("script");
        far.src = "https://example.invalid/x.js";
        const image = new Image();
        image.src = "https://example.invalid/x.png";
        const handler = document.createElement("p");
        handler.setAttribute("onclick", "globalThis.ran = true");
        document.body.append(script, far, image, handler);
        handler.click();
        fetch("https://example.invalid/").catch((error) => found.errors.push(error.name));
        setTimeout(() => resolve({ ...found, ran: globalThis.ran === true }), 300);
    }, 0);
})"""


def test_the_policy_forbids_eval_scripts_and_requests(explore):
    window = explore("line")
    policy = window.get("document.querySelector('meta[http-equiv=Content-Security-Policy]').content")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert "connect-src" not in policy
    failed = []
    window.page.on("requestfailed", lambda request: failed.append(request.failure))
    found = window.page.evaluate(ATTACKS)
    assert found["errors"] == ["EvalError", "EvalError", "TypeError"]
    blocked = {"script-src", "script-src-elem", "script-src-attr", "img-src", "connect-src"}
    assert set(found["blocked"]) >= blocked - {"script-src"}
    assert not found["ran"]
    assert set(failed) == {"csp"}  # refused before anything was sent
    refused = [each for each in window.complaints if "Content Security Policy" in each]
    assert len(refused) >= len(blocked)
    assert all("example.invalid" in each for each in window.complaints if each not in refused)
    window.complaints.clear()


def test_names_are_shown_as_text(explore):
    window = explore("hostile")
    text = window.get("document.body.innerText")
    assert window.text("title") == f"</script>{MARKUP}title"
    for part in ("verdict", "label", "equation", "name", "note", "one", "two", "method"):
        assert f"{MARKUP}{part}" in text, part
    window.slide("input-0", 1.2)
    window.wait("!seen.part('event-bar').hidden && document.querySelector('.bar-title').textContent.includes('<img')")
    window.part("network").select_option(label=f"{MARKUP}other")
    window.slide("scrub", 30)
    window.wait("seen.part('trial-words').textContent.includes('<img')")
    window.part("compare").select_option(label=f"{MARKUP}name")
    window.wait("document.querySelectorAll('[data-test=portrait]').length === 2")
    window.rest()
    assert {MARKUP + "other", MARKUP + "name"} == set(window.part("pane-title").all_text_contents())
    window.part("portrait").first.hover()
    window.frames(2)
    assert window.get("document.querySelectorAll('img, [onerror]').length") == 0
    assert window.get("document.scripts.length") == 2


def test_fixed_points_are_shown_and_listed(explore):
    window = explore("memory")
    corners = sorted((a, b) for a in (-1.0, 0.0, 1.0) for b in (-1.0, 0.0, 1.0))
    np.testing.assert_allclose(window.points(), corners, atol=window.pixel)
    assert sorted(window.get("seen.kinds()")) == ["saddle"] * 4 + ["stable"] * 4 + ["unstable"]
    assert window.text("kinds") == "4 stable4 saddle1 unstable"
    # A kind has a shape of its own, not only a colour.
    shapes = window.get("seen.shapes()")
    assert len({tuple(shape) for shape in shapes}) == len({shape for _, shape in shapes}) == 3
    window.part("layer-points").uncheck()
    window.wait("seen.marks(0).length === 0")


@pytest.mark.parametrize("name", SIZES)
def test_networks_of_every_size(explore, name):
    window, n = explore(name, limits=(-1.0, 1.0, -1.0, 1.0)), SIZES[name]
    assert f"{n} state" in window.text("kicker")
    assert colours(window.picture()) > 15
    assert window.get("seen.kinds().length") >= 1
    assert len(window.get("seen.axes(0)")) >= (2 if n == 3 else 5)
    window.click(0.31, 0.22)
    window.wait("seen.launches(0).length === 1 && seen.launches(0)[0].length > 2")
    if n == 3:
        window.page.keyboard.press("v")
        window.rest()
    facts = window.hover(-0.4, -0.3)
    assert number(facts["speed"]) > 0
    assert ("flow that leaves the plane" in facts) == (n > 2)
    window.wait(
        "'memory time' in seen.facts('[data-test=hover]') && seen.facts('[data-test=hover]')['memory time'] !== '\u2026'"
    )
    assert "slowest time constant" in window.get("seen.facts('[data-test=hover]')")
    for layer in window.get("seen.tests('layer-')"):
        window.part(layer).click()
    window.rest()


def test_three_states_are_turned_in_space(explore):
    window = explore("space", limits=(-1.0, 1.0, -1.0, 1.0))
    before, picture = window.get("seen.axesAt()"), window.picture()
    window.drag((0.6, 0.6), (0.2, 0.4))
    window.frames(2)
    assert window.get("seen.axesAt()") != before
    assert np.mean(window.picture() != picture) > 0.01
    yaw, pitch, _ = np.fromstring(window.link()["camera"], sep=",")
    plot = window.get("seen.plot(0)")
    assert yaw == pytest.approx(0.7 - 0.008 * 0.2 * plot["width"], abs=0.02)
    assert pitch == pytest.approx(0.45 + 0.008 * 0.1 * plot["height"], abs=0.02)
    window.part("portrait").focus()
    window.page.keyboard.press("ArrowLeft")
    assert number(window.link()["camera"]) < yaw
    window.page.keyboard.press("v")
    window.rest()
    assert window.part("plane-kind").is_visible()
    window.page.keyboard.press("v")
    window.rest()
    assert colours(window.picture()) > 5


def test_planes_of_a_network_with_six_states(explore):
    window = explore("six")
    speed = number(window.hover(0.5, 0.4)["speed"])
    low, high = (window.get(f"Number(seen.part('depth').{end})") for end in ("min", "max"))
    window.slide("depth", low + 0.9 * (high - low))
    assert number(window.hover(0.5, 0.4)["speed"]) != speed
    assert "depths" in window.link()
    window.part("plane-kind").select_option(label="principal components")
    window.rest()
    assert window.get("seen.axes(0)")[-2:] == ["component 1", "component 2"]
    window.part("plane-kind").select_option(label="two states")
    window.part("plane-i").select_option(index=4)
    window.rest()
    assert window.get("seen.axes(0)")[-2:] == ["state 5", "state 2"]
    chosen = window.get("seen.tests('choose-')")[:3]
    for box in chosen:
        window.part(box).check()
    window.rest()
    assert "three chosen points" in window.text("caption")
    for box in chosen:
        window.part(box.replace("choose", "point")).click()
        facts = window.get("seen.facts('[data-test=point-details]')")
        assert number(facts["distance from the plane"]) < 1e-4


@pytest.mark.parametrize("name", ["memory", "compared", "six"])
def test_every_width_down_to_a_phone(explore, name):
    window = explore(name, width=1400, height=900, **({"compare": 1} if name == "compared" else {}))
    for width in (1400, 1000, 720, 480, 360):
        window.page.set_viewport_size({"width": width, "height": 800})
        window.frames(2)
        window.wait(f"document.documentElement.clientWidth <= {width}")
        assert window.get("document.documentElement.scrollWidth") <= width, width
        assert window.get(f"seen.beyond({width})") == [], width
        plots = [window.get(f"seen.plot({pane})") for pane in range(2 if name == "compared" else 1)]
        assert all(plot["width"] > 120 and plot["height"] > 120 for plot in plots), width
    window.rest()
    assert colours(window.picture()) > 15


def test_a_phone(explore):
    """A tap launches, and what cannot be seen is folded away, not lost."""
    window = explore("memory", width=360, height=740, options={"has_touch": True, "is_mobile": True})
    window.to_portrait()
    window.page.touchscreen.tap(*window.place(0.5, -0.5))
    window.wait("seen.launches(0).length === 1")
    window.part("group-dynamics").locator("summary").tap()
    window.wait("seen.part('group-dynamics').open && seen.part('tau').getBoundingClientRect().width > 50")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dark_and_light(explore, scheme):
    window = explore("memory", options={"color_scheme": scheme})
    brightness = lambda: window.picture("explorer")[5:60, 2:10].mean()  # noqa: E731
    inside = lambda: window.picture("portrait").mean()  # noqa: E731
    first, flow = brightness(), inside()
    assert first > 200 if scheme == "light" else first < 60
    window.part("theme").click()
    window.frames(3)
    assert brightness() < 60 if scheme == "light" else brightness() > 200
    assert abs(inside() - flow) > 30
    assert window.link()["theme"] == ("dark" if scheme == "light" else "light")
    window.page.keyboard.press("d")
    window.frames(2)
    assert brightness() == pytest.approx(first, abs=2)


def test_two_networks_beside_each_other(explore):
    """They share the plane and what is done to it; each follows its own flow."""
    window = explore("compared")
    assert window.get("document.querySelectorAll('[data-test=portrait]').length") == 2
    assert "compare" not in window.link()
    assert "Points of memory." in window.text("points-note")
    assert window.part("pane-title").all_text_contents() == ["memory", "weak memory"]
    assert window.get("seen.axes(0)") == window.get("seen.axes(1)")
    np.testing.assert_allclose(np.abs(window.points(0)).max(), 1, atol=2 * window.pixel)
    np.testing.assert_allclose(np.abs(window.points(1)).max(), np.sqrt(0.5), atol=2 * window.pixel)
    window.click(0.5, -1.5, pane=1)
    window.wait("[0, 1].every((pane) => seen.launches(pane).length === 1) && !gnodeExplorer.stats().busy")
    window.frames(2)
    ends = []
    for pane in (0, 1):
        (path,) = window.launches(pane)
        np.testing.assert_allclose(path[0], [0.5, -1.5], atol=2 * window.pixel)
        ends.append(path[-1])
    np.testing.assert_allclose(ends, [[1, -1], [np.sqrt(0.5), -np.sqrt(0.5)]], atol=3 * window.pixel)
    window.slide("input-0", 0.25)
    window.rest()
    roots = [np.roots([-1, 0, gain, 0.25]).real.max() for gain in (1, 0.5)]
    for pane, root in enumerate(roots):
        assert window.points(pane)[:, 0].max() == pytest.approx(root, abs=2 * window.pixel)
    for button in ("zoom-in", "zoom-fit"):
        window.part(button).click()
        window.rest()
        assert window.get("seen.axes(0)") == window.get("seen.axes(1)")
    window.part("compare").select_option(label="nothing")
    window.wait("document.querySelectorAll('[data-test=portrait]').length === 1")
    window.rest()
    assert "Points of" not in window.text("points-note")
    assert window.link()["compare"] == "null"


def test_a_film_of_training(explore):
    window = explore("film", moving=True)
    epoch = "document.querySelector('[data-test=film]').closest('.slider').querySelector('output').textContent"
    assert window.get(epoch) == "40"
    assert window.get("seen.marks(0).length") == 9
    window.slide("film", 0)
    window.wait("seen.marks(0).length === 1")
    assert window.get(epoch) == "10"
    assert "vanish" in window.wait("seen.events()[0]")
    assert "epoch 10" in window.wait(
        "seen.part('caption').textContent.includes('epoch 10') && seen.part('caption').textContent"
    )
    window.part("film-play").click()
    window.wait("seen.part('film-play').textContent === 'Pause film'")
    window.wait(f"{epoch} === '40' && seen.part('film-play').textContent === 'Play film'")
    window.wait("seen.marks(0).length === 9")
    edges = np.abs(window.points()).max(axis=0)
    np.testing.assert_allclose(edges, 1, atol=2 * window.pixel)
    assert any(re.search("born", event) for event in window.get("seen.events()"))


MOUNT = """() => {
    const given = JSON.parse(document.getElementById("gnode-document").textContent);
    globalThis.add = (root, options) => {
        const place = document.createElement("div");
        root.append(place);
        return gnodeExplorer.mount(place, given, options);
    };
    const first = add(document.body, { link: false });
    const host = document.createElement("div");
    document.body.append(host);
    globalThis.mounted = [first, add(host.attachShadow({ mode: "open" }), { link: false, header: false })];
}"""


def test_several_on_one_page_and_none_left_behind(explore):
    window = explore("line")
    window.page.evaluate(MOUNT)
    for place in (0, 1):  # out of sight, an explorer rests
        window.get(f"document.querySelectorAll('body > div')[{1 + place}].scrollIntoView()")
        window.wait(f"mounted[{place}].stats().points === 3 && !mounted[{place}].stats().busy")
    assert window.get("document.querySelectorAll('[data-test=explorer]').length") == 2
    assert window.get("document.querySelectorAll('style[id]').length") == 1
    ids = window.get("[...document.querySelectorAll('[id]')].map((part) => part.id)")
    assert len(ids) == len(set(ids))
    window.part("input-0").nth(1).fill("0.6")
    window.wait("mounted[0].stats().points === 1")
    assert window.get("document.querySelectorAll('.layer-points .mark').length") == 3 + 1
    assert window.get("location.hash").find("input") < 0
    window.get("void mounted.forEach((each) => { each.destroy(); each.destroy(); })")
    assert window.get("document.querySelectorAll('[data-test=explorer]').length") == 1
    # A browser keeps few drawing contexts and warns when it drops one: those of explorers that are gone must be gone too.
    window.page.evaluate(
        """async () => {
            globalThis.kept = []; // so that they are not collected as garbage
            for (let k = 0; k < 20; k++) {
                const each = add(document.body, { link: false });
                kept.push(...document.querySelectorAll("canvas"));
                await new Promise((resolve) => setTimeout(resolve, 30));
                each.destroy();
            }
        }"""
    )
    assert window.get("document.querySelectorAll('canvas').length") <= 3
    window.page.keyboard.press("m")  # the first one still hears keys
    window.wait("seen.part('caption').textContent.startsWith('Map')")


def test_in_the_frame_of_a_notebook_there_is_no_link_to_copy(new_window, page_folder, tmp_path):
    portrait = Portrait(document_in(page_file("line", page_folder)))
    (tmp_path / "notebook.html").write_text(f"<!doctype html><body>{portrait._repr_html_()}</body>", encoding="utf-8")
    window = new_window(reduced_motion="reduce")
    window.page.goto((tmp_path / "notebook.html").as_uri())
    frame = window.page.frame_locator("iframe")
    frame.locator('[data-test="export-png"]').wait_for()
    assert frame.locator('[data-test="copy-link"]').count() == 0


def test_without_webgl_the_flow_is_drawn_on_a_plain_canvas(new_window, page_folder):
    window = new_window()
    window.page.add_init_script(
        """const whole = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
            return kind.startsWith("webgl") ? null : whole.call(this, kind, ...rest);
        };"""
    )
    window.open(page_file("memory", page_folder))
    assert "no WebGL 2" in window.get("document.body.innerText")
    assert colours(window.picture()) > 15
