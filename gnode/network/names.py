"""Names of the kinds of initial state."""

__all__ = ["INITIAL_STATES"]

INITIAL_STATES = {
    "zeros": "h = 0",
    "random": "one constant draw from N(0, 2 / (N + 1)), the same for all trials",
    "learned": "a trained vector",
    "affine": "a trained affine map of the first input",
}
"""The kinds of initial state and their descriptions."""
