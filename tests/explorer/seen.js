// What the explorer shows, as numbers, read from its drawing. The browser tests put this into every page.
(() => {
  const stage = (pane) => document.querySelectorAll('[data-test="portrait"]')[pane];
  const numbers = (text) => (text ?? "").match(/-?\d+(\.\d+)?(e-?\d+)?/g)?.map(Number) ?? [];
  const pairs = (values) => Array.from({ length: values.length / 2 }, (_, k) => [values[2 * k], values[2 * k + 1]]);

  globalThis.seen = {
    /** Where the plot lies in the window, in pixels. */
    plot(pane) {
      const inside = stage(pane).querySelector(".overlay svg");
      const [left, top] = numbers(inside.parentNode.getAttribute("transform"));
      const box = stage(pane).getBoundingClientRect();
      return { left: box.left + left, top: box.top + top, width: Number(inside.getAttribute("width")), height: Number(inside.getAttribute("height")) };
    },
    /** Fixed points by their numbers in the list, with their places in the plot; in the order of the list, stable ones first. */
    marks(pane) {
      const rank = (mark) => ["stable", "marginal", "saddle", "unstable"].findIndex((kind) => mark.querySelector(`.point-${kind}`) !== null);
      const marks = [...stage(pane).querySelectorAll(".layer-points .mark")];
      return marks.sort((a, b) => rank(a) - rank(b) || a.dataset.point - b.dataset.point).map((mark) => ({
        id: Number(mark.dataset.point),
        place: numbers(mark.getAttribute("transform")),
        selected: mark.classList.contains("selected"),
      }));
    },
    /** Kinds of points as they are drawn, the lowest first. */
    stacked: (pane) => [...stage(pane).querySelectorAll(".layer-points .mark .point")].map((shape) => shape.getAttribute("class").split("point-")[1]),
    live(pane) {
      const circle = stage(pane).querySelector('[data-test="live"]');
      return circle === null ? null : [Number(circle.getAttribute("cx")), Number(circle.getAttribute("cy"))];
    },
    launches(pane) {
      return [...stage(pane).querySelectorAll("path.path.launch")].map((path) => pairs(numbers(path.getAttribute("d"))));
    },
    /** The names and the numbers at the axes. */
    axes: (pane) => [...stage(pane).querySelectorAll(".axes text")].map((text) => text.textContent),
    /** Names and values of a list of facts. */
    facts: (selector) =>
      Object.fromEntries([...document.querySelectorAll(`${selector} .facts div`)].map((row) => [row.children[0].textContent, row.children[1].textContent])),
    kinds: () => [...document.querySelectorAll('[data-test="points"] tbody tr')].map((row) => row.dataset.kind),
    events: () => [...document.querySelectorAll('[data-test="event"]')].map((event) => event.textContent),
    part: (test) => document.querySelector(`[data-test="${test}"]`),
    /** Whether a place in the plot is within some pixels of another. */
    near: (place, other, pixels) => Math.hypot(place[0] - other[0], place[1] - other[1]) < pixels,
    /** Kinds of points with the outlines of their marks. */
    shapes: () =>
      [...document.querySelectorAll('[data-test="points"] tbody tr')].map((row) => {
        const mark = document.querySelector(`.mark[data-point="${row.querySelector("button").textContent}"]`);
        return [row.dataset.kind, [...mark.children].map((part) => part.tagName + (part.getAttribute("d") ?? "")).join()];
      }),
    axesAt: () => [...document.querySelectorAll(".axes text")].map((text) => `${text.getAttribute("x")} ${text.getAttribute("y")}`).join(),
    tests: (beginning) => [...document.querySelectorAll(`[data-test^="${beginning}"]`)].map((part) => part.dataset.test),
    /** Parts of the explorer that reach beyond the right edge of the window, but for those that can be scrolled. */
    beyond: (width) =>
      [...document.querySelectorAll(".gnode *")]
        .filter((part) => !part.closest(".gnode-scroll, svg, dialog, .hidden") && part.getBoundingClientRect().right > width + 1)
        .map((part) => `${part.tagName}.${part.className}`),
    /** Controls without a name for a screen reader. */
    nameless: () =>
      [...document.querySelectorAll("button, input, select, summary, [tabindex='0'], canvas[role]")]
        .filter((part) => !part.getAttribute("aria-label") && part.textContent.trim() === "" && (part.labels ?? []).length === 0)
        .map((part) => part.outerHTML),
    /** Controls that the key Tab must reach; of radio buttons it reaches the one that is chosen. */
    reachable: () =>
      [...document.querySelectorAll("button, input, select, summary, [tabindex='0']")].filter(
        (part) => part.checkVisibility() && part.closest("dialog") === null && (part.type !== "radio" || part.checked),
      ),
    reached: new Set(),
    /** Notes what has the focus, and tells whether that can be seen. */
    focus() {
      const part = document.activeElement;
      if (part === document.body) return null;
      seen.reached.add(part);
      const worn = part.type === "radio" ? part.nextElementSibling : part;
      return { outlined: getComputedStyle(worn).outlineStyle !== "none", words: part.outerHTML.slice(0, 80) };
    },
    /** Everything that a link must bring back. */
    settings() {
      const all = (selector, value) => [...document.querySelectorAll(selector)].map((part) => [part.dataset.test, value(part)]);
      return {
        sliders: all("input[type=range]", (slider) => Number(slider.value)),
        ticks: all("input[type=checkbox], input[type=radio]", (box) => box.checked),
        lists: all("select", (list) => list.value),
        marks: seen.marks(0).map((mark) => mark.place),
        axes: seen.axes(0),
        launches: seen.launches(0).map((path) => path[0]),
        live: seen.live(0),
        caption: seen.part("caption").textContent,
        theme: seen.part("explorer").dataset.theme ?? null,
      };
    },
  };
})();
