"""Neural controlled differential equations in numpy, as relatives_in_numpy.py has the other systems."""

import numpy as np
from relatives_in_numpy import linear, relu, squared, torchdiffeq, torchdiffeq_step


def natural_coefficients(ts, ys):
    """a, b, 2c, 3d of each piece: the second derivative is continuous, and 0 at both ends."""
    inverse = 1 / np.diff(ts)
    pull = 3 * np.diff(ys, axis=0) * inverse[:, None] ** 2
    ends = np.zeros((1, ys.shape[1]))
    matrix = np.diag(inverse, 1) + np.diag(inverse, -1) + 2 * np.diag(np.append(inverse, 0) + np.append(0, inverse))
    slopes = np.linalg.solve(matrix, np.vstack([pull, ends]) + np.vstack([ends, pull]))
    return np.hstack([ys[:-1], slopes[:-1], *curvature(ts, ys, slopes[:-1], slopes[1:])])


def curvature(ts, ys, left, right):
    """2c and 3d of the cubic with these values and slopes at both ends of each piece."""
    h, line = np.diff(ts)[:, None], np.diff(ys, axis=0) / np.diff(ts)[:, None]
    return (6 * line - 4 * left - 2 * right) / h, 3 * (left + right - 2 * line) / h**2


def hermite_coefficients(ts, ys):
    """The slope at a knot is that of the line from the knot before; at the first knot, that of the line after it."""
    line = np.diff(ys, axis=0) / np.diff(ts)[:, None]
    left = np.vstack([line[:1], line[:-1]])
    return np.hstack([ys[:-1], left, *curvature(ts, ys, left, line)])


class Path:
    def __init__(self, ts, coefficients):
        self.ts, self.parts = ts, np.split(coefficients, 4, axis=1)

    def piece(self, t, after):
        index = np.searchsorted(self.ts, t, side="right" if after else "left") - 1
        index = np.clip(index, 0, len(self.ts) - 2)
        return t - self.ts[index], [part[index] for part in self.parts]

    def __call__(self, t):
        s, (a, b, two_c, three_d) = self.piece(t, False)
        return a + s * (b + s * (two_c / 2 + s * three_d / 3))

    def derivative(self, t, after=False):
        s, (_, b, two_c, three_d) = self.piece(t, after)
        return b + s * (two_c + s * three_d)


def lines(ts, ys):
    slopes = np.diff(ys, axis=0) / np.diff(ts)[:, None]
    return Path(ts, np.hstack([ys[:-1], slopes, 0 * slopes, 0 * slopes]))


def rectilinear(ys):
    """Time (channel 0) moves to the next knot, then the other channels do."""
    values = np.repeat(ys, 2, axis=0)
    values[:-1, 0] = values[1:, 0]
    return values[:-1]


def ncde(a):
    def field(z):
        z = relu(linear(a, "linears.0", relu(linear(a, "linear_in", z))))
        return np.tanh(linear(a, "linear_out", z)).reshape(len(a["z0"]), -1)

    def solve(path, times, method, step, z0, perturb=False):
        flow = lambda t, z, knot: field(z) @ path.derivative(t, knot and perturb)  # noqa: E731
        return torchdiffeq(flow, method, z0, times, step)

    def by_increments(path, times, method):
        grid = np.arange(times[0], times[-1] + a["step"] / 2, a["step"])
        states = [a["z0"]]
        for t in grid[:-1]:
            change = path(t + a["step"]) - path(t)
            states.append(torchdiffeq_step(lambda _, z, knot, dx=change: field(z) @ dx, method, 0.0, states[-1], 1.0))
        return np.stack(states)[np.searchsorted(grid, times - 1e-9)]

    ts, ys, computed = a["ts"], a["ys"], {}
    computed["natural/coeffs"], computed["hermite/coeffs"] = natural_coefficients(ts, ys), hermite_coefficients(ts, ys)
    computed["rectilinear/values"] = values = rectilinear(ys)
    computed |= {"diffrax_rectilinear/ts": values[:, 0], "diffrax_rectilinear/ys": values[:, 1:]}
    knots = np.arange(len(values), dtype=float)
    paths = {
        "natural": (Path(ts, computed["natural/coeffs"]), ts),
        "hermite": (Path(ts, computed["hermite/coeffs"]), ts),
        "linear": (lines(ts, ys), ts),
        "rectilinear": (lines(knots, values), knots),
    }
    for name, (path, times) in paths.items():
        computed[f"{name}/at_queries"] = np.stack([path(q) for q in a["queries"]])
        computed[f"{name}/derivative_at_queries"] = np.stack([path.derivative(q) for q in a["queries"]])
        for method in ("euler", "midpoint", "rk4"):
            states = solve(path, times, method, a["step"], a["z0"])
            for key in (f"{name}/torchcde/{method}", f"{name}/diffrax_to_ode/{method}"):
                if key in a:
                    computed[key] = states
            if f"{name}/diffrax_increments/{method}" in a:
                computed[f"{name}/diffrax_increments/{method}"] = by_increments(path, times, method)
        if "linear" in name:
            computed[f"{name}/torchcde/rk4_perturbed"] = solve(path, times, "rk4", a["step"], a["z0"], True)
    computed["natural/torchcde/rk4_step_0.2"] = solve(*paths["natural"], "rk4", 0.2, a["z0"])
    ts, ys = a["model/ts"], a["model/ys"]
    path, z0 = Path(ts, natural_coefficients(ts, ys)), linear(a, "model/initial_network", ys[0])
    computed["model/outputs"] = linear(a, "model/linear", solve(path, ts, "rk4", np.diff(ts).min(), z0))
    return computed, {"natural/torchcde/rk4/": squared(computed["natural/torchcde/rk4"][-1])}
