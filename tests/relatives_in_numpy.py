"""The equations of tests/fixtures/relatives/README.md, written out in numpy, one function for each file of stored arrays.

A function takes the stored arrays and returns, under the names of the file, what it computes from weights and inputs
alone; second, for each prefix of the file that has gradients, the sum of squares that was differentiated.
"""

from itertools import pairwise

import numpy as np


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def softplus(a):
    return np.logaddexp(0, a)


def relu(a):
    return np.maximum(a, 0)


def squared(*arrays):
    return sum((np.abs(array) ** 2).sum() for array in arrays)


def linear(a, name, x):
    """torch.nn.Linear: the weight is [to, from]."""
    return x @ a[name + ".weight"].T + a.get(name + ".bias", 0)


def rk4(f, y, dt):
    """The classical rule."""
    k1 = f(y)
    k2 = f(y + dt / 2 * k1)
    k3 = f(y + dt / 2 * k2)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + f(y + dt * k3))


def torchdiffeq_step(f, method, t, y, dt):
    """One step of torchdiffeq; its rk4 is the 3/8 rule.

    f takes (t, y, whether a knot at t belongs to the piece after it).
    """
    k1 = f(t, y, True)
    if method == "euler":
        return y + dt * k1
    if method == "midpoint":
        return y + dt * f(t + dt / 2, y + dt / 2 * k1, False)
    k2 = f(t + dt / 3, y + dt * k1 / 3, False)
    k3 = f(t + 2 * dt / 3, y + dt * (k2 - k1 / 3), False)
    return y + dt / 8 * (k1 + 3 * k2 + 3 * k3 + f(t + dt, y + dt * (k1 - k2 + k3), False))


def torchdiffeq(f, method, y, times, step):
    """States at the times: steps of `step` from the first time, the last one shorter, straight lines between them."""
    count = int(np.ceil((times[-1] - times[0]) / step + 1))
    grid = np.append(times[0] + step * np.arange(count - 1), times[-1])
    states = [y]
    for before, after in pairwise(grid):
        moved = torchdiffeq_step(f, method, before, y, after - before)
        while len(states) < len(times) and times[len(states)] <= after:
            states.append(y + (times[len(states)] - before) / (after - before) * (moved - y))
        y = moved
    return np.stack(states)


def gru_cell(a, name, x, h):
    """torch.nn.GRUCell: reset, update, new."""
    i = np.split(x @ a[name + ".weight_ih"].T + a[name + ".bias_ih"], 3, axis=-1)
    j = np.split(h @ a[name + ".weight_hh"].T + a[name + ".bias_hh"], 3, axis=-1)
    r, z = sigmoid(i[0] + j[0]), sigmoid(i[1] + j[1])
    return (1 - z) * np.tanh(i[2] + r * j[2]) + z * h


def ode_lstm(a):
    computed, squares = {}, {}
    lstm = {key: a["rnn_cell.lstm." + key] for key in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}

    def f(h):
        return linear(a, "rnn_cell.f_node.2", np.tanh(linear(a, "rnn_cell.f_node.0", h)))

    steps = {
        "fixed_euler": lambda h, dt: h + dt * f(h),
        "fixed_heun": lambda h, dt: h + dt / 2 * (f(h) + f(h + dt * f(h))),
        "fixed_rk4": lambda h, dt: rk4(f, h, dt),
    }

    def run(h, c, step):
        hs, cs = [], []
        for t in range(a["xs"].shape[1]):
            z = a["xs"][:, t] @ lstm["weight_ih"].T + h @ lstm["weight_hh"].T + lstm["bias_ih"] + lstm["bias_hh"]
            i, forget, g, o = np.split(z, 4, axis=-1)
            c = sigmoid(forget) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            for _ in range(3):
                h = step(h, a["timespans"][:, t, None] / 3)
            hs.append(h)
            cs.append(c)
        return np.stack(hs, 1), np.stack(cs, 1)

    for name, step in steps.items():
        h, c = run(a["h0"], a["c0"], step)
        computed |= {f"{name}/h": h, f"{name}/c": c}
        squares[f"{name}/"] = squared(h[:, -1], c[:, -1])
        outputs = linear(a, "fc", run(0 * a["h0"], 0 * a["c0"], step)[0])
        last = [np.flatnonzero(row)[-1] for row in a["mask"]]
        computed |= {f"{name}/outputs": outputs, f"{name}/masked_output": outputs[np.arange(len(last)), last]}
    return computed, squares


def cornn(a):
    computed, squares = {}, {}
    for name in ("smnist", "adding"):
        dt, gamma, epsilon = a[f"{name}/dt_gamma_epsilon"]

        def run(y, z, dt=dt, gamma=gamma, epsilon=epsilon):
            ys, zs = [], []
            for x in a["xs"].swapaxes(0, 1):
                z = z + dt * (np.tanh(linear(a, "cell.i2h", np.hstack([x, z, y]))) - gamma * y - epsilon * z)
                y = y + dt * z
                ys.append(y)
                zs.append(z)
            return np.stack(ys, 1), np.stack(zs, 1)

        y, z = run(a["hy0"], a["hz0"])
        computed |= {f"{name}/hy": y, f"{name}/hz": z}
        computed[f"{name}/output"] = linear(a, "readout", run(0 * a["hy0"], 0 * a["hz0"])[0][:, -1])
        squares[f"{name}/"] = squared(y[:, -1], z[:, -1])
    return computed, squares


def unicornn(a):
    def run(driven, layer, y, z):
        rate, w, states = a["dt"] * sigmoid(a[f"RNNs.{layer}.c_"]), a[f"RNNs.{layer}.weight_hh"], []
        for u in driven:
            z = z - rate * (np.tanh(w * y + u) + a["alpha"] * y)
            y = y + rate * z
            states.append((y, z))
        return np.swapaxes(states, 0, 1)

    computed, x, rest = {}, a["xs"], np.zeros_like(a["started/hy0"])
    for layer in range(3):
        driven = linear(a, f"DIs.{layer}.fc", x)
        computed[f"layer{layer}/hy"], computed[f"layer{layer}/hz"] = run(driven, layer, rest, rest)
        x = computed[f"layer{layer}/hy"]
    started = run(linear(a, "DIs.0.fc", a["xs"]), 0, a["started/hy0"], a["started/hz0"])
    computed["started/hy"], computed["started/hz"] = started
    computed["output"] = linear(a, "classifier", x[-1])
    return computed, {"": squared(x[-1])}


def gru_drift(a, name, x, h):
    """The four drifts of GRU-ODE; x is None in the autonomous ones."""
    if name + "lin_hr.weight" in a:
        r, z, n = (0, 0, 0) if x is None else np.split(linear(a, name + "lin_x", x), 3, axis=-1)
        r, z = sigmoid(r + linear(a, name + "lin_hr", h)), sigmoid(z + linear(a, name + "lin_hz", h))
        n = np.tanh(n + linear(a, name + "lin_hh", r * h))
    else:
        z, n = (0, 0) if x is None else (linear(a, name + "lin_xz", x), linear(a, name + "lin_xn", x))
        z = sigmoid(z + linear(a, name + "lin_hz", h))
        n = np.tanh(n + linear(a, name + "lin_hn", z * h))
    return (1 - z) * (n - h)


def gru_ode(a):
    computed, squares = {}, {}
    for name in ("minimal", "minimal_autonomous", "full", "full_autonomous"):
        h, states = a["h0"], []
        for t in range(a["xs"].shape[1]):
            dh = gru_drift(a, name + "/", None if "auto" in name else a["xs"][:, t], h)
            h = h + a["delta_t"] * dh
            states.append(h)
            if t == 0:
                computed[f"{name}/dh"] = dh
        computed[f"{name}/states"], squares[f"{name}/"] = np.stack(states, 1), squared(h)
    return computed, squares


def observe(a, h, p, x, m, rows, logvar):
    """The jump of GRU-ODE-Bayes at one time, and the losses before it."""
    mean, second = np.split(p[rows], 2, axis=1)
    second = second if logvar else np.abs(second) + 1e-6
    error = (x - mean) / (np.exp(second / 2) if logvar else np.sqrt(second))
    errors = error**2 + (second + np.log(2 * np.pi) if logvar else np.log(second))
    losses = errors * m / 2 if logvar else (errors * m).sum() / 2
    four = np.stack([x, mean, second, error], axis=2)
    prepared = relu(np.einsum("bif,ifp->bip", four, a["gru_obs.w_prep"]) + a["gru_obs.bias_prep"])
    h = h.copy()
    h[rows] = gru_cell(a, "gru_obs.gru_d", (prepared * m[:, :, None]).reshape(len(rows), -1), h[rows])
    return h, losses


def gru_ode_bayes(a):
    def p_of(h):
        return linear(a, "p_model.3", relu(linear(a, "p_model.0", h)))

    computed, squares = {}, {}
    for name, logvar in (("logvar", True), ("variance", False)):
        h, losses = observe(a, a["jump/h"], a["jump/p"], a["X"][1:3], a["M"][1:3], np.arange(2), logvar)
        computed |= {f"jump/{name}/h_after": h, f"jump/{name}/losses": losses}
    for name in ("full_euler", "full_midpoint_imputed", "minimal_midpoint_imputed", "minimal_euler_variance"):
        logvar, dt, t = "variance" not in name, a["delta_t"], 0.0

        def drift(h, name=name):
            return gru_drift(a, name.split("_")[0] + "/gru_c.", p_of(h) if "imputed" in name else None, h)

        h = np.tanh(linear(a, "covariates_map.3", relu(linear(a, "covariates_map.0", a["cov"]))))
        path, loss, divergence = [(0.0, h)], 0, 0
        for i, until in enumerate([*a["times"], a["T"]]):
            while t < until - (0.001 * dt if i < len(a["times"]) else 0):
                h = h + dt * drift(h + dt / 2 * drift(h) if "midpoint" in name else h)
                t += dt
                path.append((t, h))
            if i < len(a["times"]):
                rows = slice(*a["time_ptr"][i : i + 2])
                x, m, who = a["X"][rows], a["M"][rows], a["obs_idx"][rows]
                h, losses = observe(a, h, p_of(h), x, m, who, logvar)
                path.append((until, h))
                mean, second = np.split(p_of(h)[who], 2, axis=1)
                variance = np.exp(second) if logvar else np.abs(second) + 1e-5
                fit = (variance + (mean - x) ** 2) / (2 * 0.01**2) - 0.5
                loss, divergence = (
                    loss + losses.sum(),
                    divergence + ((np.log(0.01) - np.log(variance) / 2 + fit) * m).sum(),
                )
        computed[f"{name}/path_t"], computed[f"{name}/path_h"] = (np.array(part) for part in zip(*path))
        computed[f"{name}/loss"] = loss + a["mixing"] * divergence
        squares[f"{name}/"] = squared(h)
    return computed, squares


def hbnode(a):
    computed, squares = {}, {}
    for kind in ("hbnode", "hbnode_corrected", "ghbnode"):
        gamma, corr = sigmoid(a[f"{kind}/gamma.param"]), softplus(a[f"{kind}/corr.param"])

        def drift(t, y, knot=None, kind=kind, gamma=gamma, corr=corr, scale=1.0):
            h, m = y[:, :1], y[:, 1:]
            f = linear(a, "df.dense3", relu(linear(a, "df.dense2", relu(linear(a, "df.dense1", h)))))
            return scale * np.hstack([np.tanh(-m) if kind == "ghbnode" else -m, f - gamma * m + corr * h])

        computed[f"{kind}/drift"] = drift(0.0, a["y0"])
        for method in ("euler", "rk4"):
            computed[f"{kind}/{method}"] = torchdiffeq(drift, method, a["y0"], a["times"], a["step"])
        squares[f"{kind}/rk4/"] = squared(computed[f"{kind}/rk4"][-1])
        y, rnn, ode = np.zeros_like(a["y0"]), [], [np.zeros_like(a["y0"])]
        for x, span in zip(a["xs"], a["timespans"]):
            step = (
                linear(a, "rnn.dense2", y[:, :1])
                + linear(a, "rnn.dense2q", y[:, 1:])
                + linear(a, "rnn.dense1", x)[:, None]
            )
            rnn.append(y + step.reshape(y.shape))
            flow = lambda t, y, knot, f=drift, span=span: f(t, y, scale=span[:, None, None])  # noqa: E731
            y = torchdiffeq(flow, "rk4", rnn[-1], np.array([0.0, 1.0]), a["step"])[-1]
            ode.append(y)
        computed[f"{kind}/ode_rnn/h_rnn"] = np.stack([*rnn, np.zeros_like(y)])
        computed[f"{kind}/ode_rnn/h_ode"] = np.stack(ode)
    return computed, squares


def anode(a):
    computed, squares = {}, {}
    for kind in ("relu", "time_relu", "time_softplus"):
        act = softplus if "softplus" in kind else relu

        def drift(t, x, knot=None, kind=kind, act=act):
            if "time" in kind:
                x = np.hstack([np.full((len(x), 1), t), x])
            for layer in ("fc1", "fc2"):
                x = act(linear(a, f"{kind}/odeblock.odefunc.{layer}", x))
            return linear(a, f"{kind}/odeblock.odefunc.fc3", x)

        computed[f"{kind}/drift_at_0.3"] = drift(0.3, a[f"{kind}/drift_x"])
        start = np.hstack([a["xs"], np.zeros((len(a["xs"]), 2))])
        for method in ("euler", "rk4"):
            path = torchdiffeq(drift, method, start, a["times"], a["step"])
            computed[f"{kind}/{method}/trajectory"] = path
            computed[f"{kind}/{method}/output"] = linear(a, f"{kind}/linear_layer", path[-1])
        squares[f"{kind}/rk4/"] = squared(path[-1])
    return computed, squares
