"""GPU kernels that integrate a batch over all bins in one launch, and the choice between them."""
