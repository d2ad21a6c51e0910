"""Mathematics of random networks, without simulation."""

from gnode.theory.relu import critical_sigma_w_relu as critical_sigma_w_relu
