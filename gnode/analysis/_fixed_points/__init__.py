"""The search for fixed points: Newton's method from many starts, and the labelling and merging of its results."""
