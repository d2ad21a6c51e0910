"""Bracketed root finding to float64 precision."""

from collections.abc import Callable

import numpy as np


def bracketed_root(function: Callable[[float], float], low: float, high: float, rtol: float = 1e-15) -> float:
    """Finds the root of a function that changes sign between `low` and `high`, by Brent's method.

    >>> bracketed_root(lambda x: x**2 - 4, 0.0, 5.0)
    2.0
    """
    from scipy import optimize  # a quarter of a second, for which drawing a network need not wait

    answer = optimize.brentq(function, low, high, xtol=1e-300, rtol=np.float64(rtol), maxiter=200)
    return float(answer)  # pyright: ignore[reportArgumentType]
