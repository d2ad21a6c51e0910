"""Liquid and closed-form networks and linear recurrences in numpy, as relatives_in_numpy.py has the other systems."""

import numpy as np
import scipy.linalg
from relatives_in_numpy import linear, rk4, sigmoid, softplus, squared


def ltc(a):
    computed, squares, x0 = {}, {}, a["xs"]

    def synapses(prefix, v, positive):
        """Conductances, and the same times their reversal potentials, summed over the sending units."""
        active = sigmoid(a[f"ncps/{prefix}sigma"] * (v[:, :, None] - a[f"ncps/{prefix}mu"]))
        active = positive(a[f"ncps/{prefix}w"]) * active * a[f"ncps/{prefix}sparsity_mask"]
        return active.sum(1), (active * a[f"ncps/{prefix}erev"]).sum(1)

    def run(step):
        v, states = a["h0"], []
        for t in range(x0.shape[1]):
            v = step(t, v)
            states.append(v)
        return np.stack(states, 1)

    def semi_implicit(span, mapped, positive, epsilon):
        def step(t, v):
            g_in, e_in = synapses("sensory_", mapped[:, t], positive)
            cm, leak = positive(a["ncps/cm"]) / (span[:, t, None] / 6), positive(a["ncps/gleak"])
            for _ in range(6):
                g, e = synapses("", v, positive)
                v = (cm * v + leak * a["ncps/vleak"] + e + e_in) / (cm + leak + g + g_in + epsilon)
            return v

        return run(step)

    ones, mapped, same = np.ones_like(a["timespans"]), x0 * a["ncps/input_w"] + a["ncps/input_b"], lambda p: p
    for name, span, positive in (
        ("clipped", ones, same),
        ("clipped_timed", a["timespans"], same),
        ("softplus_timed", a["timespans"], softplus),
    ):
        states = semi_implicit(span, mapped, positive, 1e-8)
        computed[f"ncps/{name}/states"] = states
        computed[f"ncps/{name}/outputs"] = states[:, :, :2] * a["ncps/output_w"] + a["ncps/output_b"]
        squares[f"ncps/{name}/"] = squared(states[:, -1])
    computed["first/semi_implicit/states"] = semi_implicit(6 * ones, x0, same, 0)

    def slope(t, v):
        (g_in, e_in), (g, e) = synapses("sensory_", x0[:, t], same), synapses("", v, same)
        return (a["ncps/gleak"] * (a["ncps/vleak"] - v) + e + e_in - v * (g + g_in)) / a["ncps/cm"]

    def unfolded(advance):
        def step(t, v):
            for _ in range(6):
                v = advance(t, v)
            return v

        return run(step)

    computed["first/explicit/states"] = unfolded(lambda t, v: v + 0.1 * slope(t, v))
    computed["first/runge_kutta/states"] = unfolded(lambda t, v: rk4(lambda w: slope(t, w), v, 0.1))

    def fused(t, v):
        f = np.tanh(v @ a["paper/W_r"].T + x0[:, t] @ a["paper/W"].T + a["paper/mu"])
        dt = a["timespans"][:, t, None] / a["paper/unfolds"]
        return (v + dt * f * a["paper/A"]) / (1 + dt * (1 / a["paper/tau"] + f))

    computed["paper/states"] = unfolded(fused)
    return computed, squares


def cfc(a):
    def step(mode, x, h, span):
        x = np.hstack([x, h])
        for layer in ("backbone.0", "backbone.2"):
            x = 1.7159 * np.tanh(0.666 * linear(a, layer, x))
        first = linear(a, "ff1", x)
        if mode == "pure":
            return a["A"] - a["A"] * np.exp(-span * (np.abs(a["w_tau"]) + np.abs(first))) * first
        first, second = np.tanh(first), np.tanh(linear(a, "ff2", x))
        gate = sigmoid(linear(a, "time_a", x) * span + linear(a, "time_b", x))
        return (first if mode == "no_gate" else (1 - gate) * first) + gate * second

    computed, squares = {}, {}
    for mode in ("default", "no_gate", "pure", "mixed"):
        h, c, states = a["h0"], a["c0"], []
        for t in range(a["xs"].shape[1]):
            x, span = a["xs"][:, t], a["timespans"][:, t, None]
            if mode == "mixed":
                z = linear(a, "lstm.input_map", x) + h @ a["lstm.recurrent_map.weight"].T
                g, i, forget, o = np.split(z, 4, axis=-1)
                c = c * sigmoid(forget + 1) + np.tanh(g) * sigmoid(i)
                h = np.tanh(c) * sigmoid(o)
            h = step(mode, x, h, span)
            states.append(np.hstack([h, c]) if mode == "mixed" else h)
        computed[f"{mode}/states"] = np.stack(states, 1)
        squares[f"{mode}/"] = squared(h)
    del squares["mixed/"]
    return computed, squares


def lmu(a):
    computed, squares = {}, {}
    for kind, (dimensions, order) in {"zoh": (1, 4), "euler": (1, 3), "two": (2, 3)}.items():
        i, j = np.mgrid[:order, :order]
        A = (2 * i + 1) * np.where(i < j, -1.0, (-1.0) ** (i - j + 1))
        B = (2 * i[:, :1] + 1) * (-1.0) ** i[:, :1]
        if kind == "euler":
            discrete_A, discrete_B = np.eye(order) + A / a[f"{kind}/theta"], B / a[f"{kind}/theta"]
        else:
            computed |= {f"{kind}/continuous_A": A.T, f"{kind}/continuous_B": B.T}
            discrete_A = scipy.linalg.expm(A / a[f"{kind}/theta"])
            discrete_B = np.linalg.solve(A, (discrete_A - np.eye(order)) @ B)
        computed |= {f"{kind}/A": discrete_A.T, f"{kind}/B": discrete_B.T}
        m, h, ms, hs = a[f"{kind}/m0"], a["h0"], [], []
        for x in a["xs"].swapaxes(0, 1):
            u = np.hstack([x, h]) @ a[f"{kind}/kernel"] + m @ a[f"{kind}/recurrent_kernel"] + a.get(f"{kind}/bias", 0)
            m = m.reshape(-1, dimensions, order) @ discrete_A.T + u[:, :, None] * discrete_B[:, 0]
            m = m.reshape(len(m), -1)
            h = np.tanh(np.hstack([m, x]) @ a[f"{kind}/hidden.kernel"] + h @ a[f"{kind}/hidden.recurrent_kernel"])
            ms.append(m)
            hs.append(h)
        computed |= {f"{kind}/m": np.stack(ms, 1), f"{kind}/h": np.stack(hs, 1)}
        squares[f"{kind}/"] = squared(h)
    return computed, squares


def s4d(a):
    computed, n, half = {}, 8, np.arange(4)
    for name, imaginary in {"lin": np.pi * half, "inv": n / np.pi * (n / (2 * half + 1) - 1)}.items():
        computed |= {f"init/{name}/A": -0.5 - 1j * imaginary, f"init/{name}/B": np.ones(4, complex)}
    computed |= {"init/real/A": -(1.0 + half) - 0j, "init/real/B": np.ones(4, complex)}
    i, j = np.mgrid[:n, :n]
    hippo = -np.sqrt(2 * i + 1) * np.sqrt(2 * j + 1) * (i > j) - (i + 1) * (i == j)
    p = np.sqrt(np.arange(n) + 0.5)
    values, vectors = np.linalg.eigh(-1j * (hippo + np.outer(p, p) + np.eye(n) / 2))
    computed["init/legs/A"] = -0.5 + 1j * values[:4]  # the negative half, the largest modulus first
    computed["init/legs/|B|"] = np.abs(vectors.conj().T @ np.sqrt(2 * np.arange(n) + 1.0))[:4]

    A = -np.exp(a["kernel/A_real"]) - 1j * a["kernel/A_imag"]
    B, C = (a[f"kernel/{key}"] @ [1, 1j] for key in "BC")
    dt = np.exp(a["kernel/inv_dt"])
    squares, powers = {}, np.arange(a["us"].shape[1])
    for name in ("zoh", "bilinear"):
        if name == "zoh":
            dA, dB = np.exp(dt * A), B[0] * (np.exp(dt * A) - 1) / A
        else:
            dA, dB = (1 + dt * A / 2) / (1 - dt * A / 2), B[0] * dt / (1 - dt * A / 2)
        state, states = np.zeros((len(a["us"]), *A.shape), complex), []
        for u in a["us"].swapaxes(0, 1):
            state = dA * state + dB * u[:, :, None]
            states.append(state)
        states = np.stack(states, 1)
        outputs = 2 * (C[0] * states).sum(-1).real
        computed |= {f"kernel/{name}/states": states, f"kernel/{name}/outputs": outputs}
        computed[f"kernel/{name}/K"] = 2 * np.einsum("hn,hnl->hl", C[0] * dB, dA[:, :, None] ** powers).real
        squares[f"kernel/{name}/"] = squared(outputs[:, -1])
    A = -np.exp(a["minimal/kernel.log_A_real"]) + 1j * a["minimal/kernel.A_imag"]
    dA = np.exp(A * np.exp(a["minimal/kernel.log_dt"])[:, None])
    C = a["minimal/kernel.C"] @ [1, 1j] * (dA - 1) / A
    K = computed["minimal/K"] = 2 * np.einsum("hn,hnl->hl", C, dA[:, :, None] ** powers).real
    skip = a["us"] * a["minimal/D"]
    seen = [sum(K[:, t - s] * a["us"][:, s] for s in range(t + 1)) for t in powers]
    computed["minimal/outputs"] = np.stack(seen, 1) + skip
    return computed, squares


def lru(a):
    r_min, r_max, max_phase = a["init/r_min_r_max_max_phase"]
    nu = np.log(-0.5 * np.log(a["init/uniform"] * (r_max**2 - r_min**2) + r_min**2))
    theta = np.log(max_phase * a["init/uniform"])
    gamma = np.log(np.sqrt(1 - np.exp(-2 * np.exp(nu))))
    computed = {"init/nu_log": nu, "init/theta_log": theta, "init/gamma_log": gamma}
    rate = np.exp(-np.exp(a["nu_log"]) + 1j * np.exp(a["theta_log"]))
    B = (a["B_re"] + 1j * a["B_im"]) * np.exp(a["gamma_log"])[:, None]
    h, states = np.zeros(len(rate), complex), []
    for x in a["xs"]:
        h = rate * h + B @ x
        states.append(h)
    states = np.stack(states)
    outputs = (states @ (a["C_re"] + 1j * a["C_im"]).T).real + a["D"] * a["xs"]
    computed |= {"states_re": states.real, "states_im": states.imag, "outputs": outputs}
    return computed, {"": squared(outputs[-1])}
