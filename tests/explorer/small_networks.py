"""Small networks whose flow is known in closed form, and the pages that are made of them for the tests in a browser."""

import dataclasses
import json
import os
from pathlib import Path

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

import gnode
from gnode.cells import Cell, GatedCell
from gnode.explorer import Portrait
from gnode.explorer._document import Subject, network_document
from gnode.explorer._packing import packed, unpacked
from gnode.solve import Solver

FOLD = 2 / (3 * np.sqrt(3))
"""The input at which a stable point of the line meets the unstable one."""
LINE_DT = 0.2
MEMORY_TAU, MEMORY_DT = 0.5, 0.1
WEAK = 0.5
"""The gain of the memory that another is compared with."""
FILM = {10: -0.5, 20: 0.5, 40: 1.0}
"""The gain at each epoch of the film: the bits come with training."""
MARKUP = "<img src=x onerror=alert(1)>"


class Line(Cell):
    """dh/dt = x + h - h^3."""

    inputs: int = eqx.field(static=True, default=1)
    units: int = eqx.field(static=True, default=1)

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return x + h - h**3


class Memory(GatedCell):
    """tau dh/dt = sigmoid(1 + h) (x + h - h^3): each unit holds a bit that its input writes."""

    inputs: int = eqx.field(static=True, default=2)
    units: int = eqx.field(static=True, default=2)
    gain: float = eqx.field(static=True, default=1.0)

    @property
    def time_constant(self) -> float:
        return MEMORY_TAU

    def drift(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return x + self.gain * h - h**3

    def gate(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return jax.nn.sigmoid(1 + h)

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return self.gate(h, x) * self.drift(h, x) / MEMORY_TAU


def memory_field(h, x=0.0, open_gate=False, gain=1.0):
    """The flow of `Memory` without jax."""
    gate = 1.0 if open_gate else 1 / (1 + np.exp(-1 - h))
    return gate * (x + gain * h - h**3) / MEMORY_TAU


def rk4_path(field, h, dt, steps):
    """States from h on, by Runge-Kutta steps."""
    path = [np.asarray(h, float)]
    for _ in range(steps):
        h = path[-1]
        k1 = field(h)
        k2 = field(h + dt / 2 * k1)
        k3 = field(h + dt / 2 * k2)
        path.append(h + dt / 6 * (k1 + 2 * k2 + 2 * k3 + field(h + dt * k3)))
    return np.stack(path)


def euler_path(field, h, dt, steps):
    """States from h on, by the steps of the map."""
    path = [np.asarray(h, float)]
    for _ in range(steps):
        path.append(path[-1] + dt * field(path[-1]))
    return np.stack(path)


TRIAL_BINS = 60


def memory_trials():
    """Two trials with a pulse on each input, and the states that Euler's method gives."""
    inputs = np.zeros((2, TRIAL_BINS, 2))
    inputs[0, 10:20, 0] = 1.0
    inputs[1, 5:15, 1] = -1.0
    states = np.zeros_like(inputs)
    for trial, given in enumerate(inputs):
        h = np.zeros(2)
        for k, x in enumerate(given):
            states[trial, k] = h = h + MEMORY_DT * memory_field(h, x)
    return {"inputs": inputs, "targets": np.sign(states), "outputs": states, "lengths": np.array([TRIAL_BINS, 40])}


def _memory(**changes):
    subject = Subject(Memory(), "memory", MEMORY_DT, Solver("euler"), trials=memory_trials())
    subject = dataclasses.replace(subject, states=_starting_at(subject.cell, 20), **changes)
    return network_document(subject) | {"points": memory_points()}


def memory_points(gain=1.0):
    """The fixed points of `Memory` at zero input: one, or nine."""
    if gain <= 0:
        return [{"h": [0.0, 0.0], "kind": "stable", "status": "equilibrium", "residual": 0.0}]
    edge = float(np.sqrt(gain))
    kinds = {0: "unstable", 1: "saddle", 2: "stable"}
    return [
        {"h": [a, b], "kind": kinds[(a != 0) + (b != 0)], "status": "equilibrium", "residual": 0.0}
        for a in (-edge, 0.0, edge)
        for b in (-edge, 0.0, edge)
    ]


def _changed_memory(gain, name="memory", epoch=None):
    subject = Subject(Memory(gain=gain), name, MEMORY_DT, Solver("euler"), epoch=epoch)
    return network_document(subject) | {"points": memory_points(gain)}


def _starting_at(cell, count):
    """Trajectories of the flow from random states at zero input."""
    starts = np.random.default_rng(0).uniform(-1.5, 1.5, size=(count, cell.units))
    return np.stack([rk4_path(memory_field, start, MEMORY_DT, 50) for start in starts])


def _drawn(cell, name, dt=0.1):
    states = np.random.default_rng(1).normal(size=(4, 30, cell.state_size))
    return network_document(Subject(cell, name, dt, Solver("euler"), states=states))


def _document(*networks, title="small", verdict=None):
    return {"format": 1, "title": title, "verdict": verdict, "networks": list(networks)}


def _letters():
    """Which of two units is larger at the end: the class "b", but the label of the second trial says "a"."""
    trials = memory_trials()
    trials["inputs"][:, :, 1] = 1.0
    targets = np.full_like(trials["inputs"], np.nan)
    for trial, (length, right) in enumerate(zip(trials["lengths"], (1, 0))):
        targets[trial, length - 1] = np.eye(2)[right]
    document = _memory(trials=trials | {"targets": targets}, classes=("a", "b"), output_names=("a", "b"))
    return _document(document, title="letters")


def _line():
    return _document(network_document(Subject(Line(), "line", LINE_DT, Solver("euler"))), title="line")


def _space():
    return _document(_drawn(gnode.cells.gru(1, 3, tau=0.5, key=0), "space"), title="space")


def _compared():
    return _document(_memory(), _changed_memory(WEAK, "weak memory"), title="two memories")


def _film():
    return _document(*(_changed_memory(gain, epoch=epoch) for epoch, gain in FILM.items()), title="film")


def _hostile():
    """Markup wherever a text of a file comes into the page."""
    names = [f"{MARKUP}{what}" for what in ("one", "two")]
    subject = Subject(
        *(Memory(), f"{MARKUP}name", MEMORY_DT, Solver("euler")),
        trials=memory_trials(),
        input_names=names,
        output_names=names,
        label=f"{MARKUP}label",
        equation=f"{MARKUP}equation",
    )
    one = network_document(subject) | {"notes": [f"{MARKUP}note"], "method": f"{MARKUP}method"}
    sorted_out = one | {"name": f"{MARKUP}other", "classes": names}
    return _document(one, sorted_out, title=f"</script>{MARKUP}title", verdict=f"{MARKUP}verdict")


def _explored(cell, name):
    """Through the front door, fixed points and all."""
    return gnode.explore(cell, name=name, starts=20, dt=0.1).document


def corners(size):
    """All states whose components are -1 or 1."""
    return 1.0 - 2.0 * ((np.arange(2**size)[:, None] >> np.arange(size)) & 1)


def _many():
    """As many stable points as there are corners, of which trajectories visit one."""
    document = gnode.explore(lambda h, x: h - h**3, state=6, states=1.2 * corners(6), dt=0.1, name="many").document
    states = packed(unpacked(document["networks"][0]["states"])[:1])
    return document | {"networks": [document["networks"][0] | {"states": states, "slow": None}]}


def _bits():
    """Three bits, of which nothing is known but their stable points and states close to them."""
    found = [{"h": h.tolist(), "kind": "stable", "status": "equilibrium", "residual": 0.0} for h in corners(3)]
    nearby = np.stack([1.05 * corners(3), corners(3)], axis=1)
    cell = Memory(inputs=3, units=3)
    return _document(network_document(Subject(cell, "bits", 0.1, Solver("euler"), states=nearby)) | {"points": found})


class Circle(Cell):
    """dh/dt = (1 - |h|^2) h: the unit circle stands still."""

    inputs: int = eqx.field(static=True, default=1)
    units: int = eqx.field(static=True, default=2)

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return (1 - (h**2).sum()) * h


def _circle():
    """All of the circle is known, in the order of the first state."""
    angles = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    places = places[np.argsort(places[:, 0])]
    found = [{"h": h.tolist(), "kind": "marginal", "status": "equilibrium", "residual": 0.0} for h in places]
    subject = Subject(Circle(), "circle", 0.1, Solver("euler"), states=places[None])
    return _document(network_document(subject) | {"points": found})


DOCUMENTS = {
    "line": _line,
    "memory": lambda: _document(_memory(), title="memory", verdict="holds two bits."),
    "space": _space,
    "six": lambda: _explored(Memory(inputs=6, units=6), "six"),
    "hundred": lambda: _document(_drawn(gnode.cells.rate_rnn(2, 100, tau=0.5, key=0), "hundred")),
    "lstm": lambda: _document(_drawn(gnode.cells.lstm(1, 2, tau=0.5, key=0), "lstm")),
    "many": _many,
    "bits": _bits,
    "circle": _circle,
    "compared": _compared,
    "letters": _letters,
    "film": _film,
    "hostile": _hostile,
}


def page_file(name: str, folder: Path) -> Path:
    """The page of a document, made by the first test of any worker that asks for it."""
    place = folder / f"{name}.html"
    if not place.exists():
        own = folder / f"{name}-{os.getpid()}.html"
        Portrait(DOCUMENTS[name]()).save(own)
        own.replace(place)
    return place


def document_in(page: Path) -> dict:
    """The document that a page holds."""
    text = page.read_text().split('id="gnode-document">')[1].split("</script>")[0]
    return json.loads(text)
