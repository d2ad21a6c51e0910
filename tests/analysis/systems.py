"""Systems whose fixed points, manifolds and exponents are known in closed form."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from gnode import cells
from gnode.network import Network

BISTABLE_GAIN = 2.0
BISTABLE_POINT = 0.9575040240772687  # the positive root of h = tanh(2 h)


def linear(A, b):
    A, b = np.asarray(A, float), np.asarray(b, float)
    return lambda h, x: A @ h + b


def rnn_with(W, U=None, b=None, tau=1.0):
    """tau dh/dt = -h + tanh(W h + U x + b) with the given weights."""
    W = np.asarray(W, np.float32)
    size = len(W)
    cell = cells.rnn(1 if U is None else np.shape(U)[1], size, tau=tau, key=0)
    U = np.zeros((size, 1)) if U is None else U
    b = np.zeros(size) if b is None else b
    values = (jnp.asarray(W), jnp.asarray(U, dtype=jnp.float32), jnp.asarray(b, dtype=jnp.float32))
    return eqx.tree_at(lambda c: (c.F.W[0], c.F.U, c.F.b[0]), cell, values)


def line_attractor(h, x):
    """The segment's whole line (s, 0, 0) is at rest; the rest decays onto it at rates 1 and 2."""
    return jnp.stack([0.0 * h[0], -h[1], -2.0 * h[2]])


def ring_attractor(h, x):
    """Radial flow onto the circle of radius 2, on which everything rests."""
    r = jnp.sqrt(h[0] ** 2 + h[1] ** 2 + 1e-300)
    return h / r * (2.0 - r) * 3.0


def plane_attractor(h, x):
    """A plane of rest in four dimensions, tilted so that no axis lies in it."""
    normals = _tilted()[2:]
    return -normals.T @ (jnp.asarray([1.0, 2.0]) * (normals @ h))


def plane_basis():
    return _tilted()[:2]


def _tilted():
    return np.linalg.qr(np.random.default_rng(3).standard_normal((4, 4)))[0].T


def limit_cycle(h, x):
    """r' = r (1 - r^2), theta' = 1: a stable circle, and one unstable fixed point at the origin."""
    r2 = h[0] ** 2 + h[1] ** 2
    return jnp.stack([h[0] * (1 - r2) - h[1], h[1] * (1 - r2) + h[0]])


def lorenz(h, x):
    return jnp.stack([10.0 * (h[1] - h[0]), h[0] * (28.0 - h[2]) - h[1], h[0] * h[1] - 8.0 / 3.0 * h[2]])


def with_gate_bias(cell, bias):
    """The same gated cell, its gate pushed open or shut by a bias."""
    G = cell.G
    zeros = (*(jnp.zeros_like(W) for W in G.W),)
    biases = (*(jnp.full_like(b, bias) for b in G.b),)
    return eqx.tree_at(lambda c: (c.G.W, c.G.b), cell, (zeros, biases))


def integrator_network(outputs=2, decay=0.0):
    """A network whose output is its state, which adds up what comes in: a plane attractor.

    tau dh/dt = -h + F with F(h, x) = (1 - decay) h + x / 2: two bins of a pulse add its amplitude.
    """
    cell = cells.node(outputs, outputs, widths=(), tau=0.01, key=0)
    eye = jnp.eye(outputs)
    cell = eqx.tree_at(lambda c: (c.F.W, c.F.U, c.F.b), cell, (((1 - decay) * eye,), eye / 2, (jnp.zeros(outputs),)))
    net = Network(cell, outputs, key=0)
    return eqx.tree_at(lambda n: (n.readout.C, n.readout.d), net, ((eye,), (jnp.zeros(outputs),)))
