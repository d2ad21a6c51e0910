"""The kinds of initial state, by name."""

__all__ = ["INITIAL_STATES"]

INITIAL_STATES = {
    "zeros": "h = 0",
    "random": "one fixed draw from N(0, 2 / (N + 1)), shared by all trials",
    "learned": "a trained vector",
    "affine": "a trained affine map of the first input",
}
"""Every kind of initial state and what it is."""
