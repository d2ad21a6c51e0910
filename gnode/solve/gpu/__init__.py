"""GPU kernels that take a batch through all bins at once, and the choice among them."""
