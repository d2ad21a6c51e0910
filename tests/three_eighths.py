"""The rule that torchdiffeq calls rk4, for comparisons with what was stored by it."""

from gnode.solve._bin import rate


def three_eighths(cell, h, bin, solver):
    """The flow of one bin in `solver.substeps` steps; `gnode.solve._bin.moved` takes it in place of a solver's own."""
    step = 1 / solver.substeps
    length = step if cell.has("control") else step * bin.length
    for index in range(solver.substeps):
        f = lambda share, h, index=index: rate(cell, h, bin, (index + share) * step)  # noqa: E731
        k1 = f(0, h)
        k2 = f(1 / 3, h + length * k1 / 3)
        k3 = f(2 / 3, h + length * (k2 - k1 / 3))
        h = h + length / 8 * (k1 + 3 * k2 + 3 * k3 + f(1, h + length * (k1 - k2 + k3)))
    return h
