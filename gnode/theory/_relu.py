"""The closed form of the critical scale of ReLU stacks (Appendix A, crit_relu and crit_relu2)."""

from gnode import errors
from gnode.arguments import checked
from gnode.theory._mean_field import SCALINGS


@checked
def critical_sigma_w_relu(depth: int, scaling: str = "kaiming", aspect: float = 1.0) -> float:
    """Computes sigma_w*, the weight scale at which -h + F(h) is at the edge of chaos, for a ReLU stack of depth L.

        Kaiming:  sigma_w* = sqrt(2^(1 - 1/L))
        Glorot:   sigma_w* = 2^(1 - 3/2L) * ((1 + alpha)^2 / alpha)^(1/2L),   alpha = H / N

    The paper's Glorot form lacks the factor 1 / alpha, because it uses the ratio H / N of the first layer for the last
    layer, where it is N / H. The two forms agree at alpha = 1; at every other ratio sampled networks follow the form used
    here. A stack of depth 1 has no hidden layer, so `aspect` does not affect it.

    **Arguments:**

    - `depth`: L, the number of weight matrices.
    - `scaling`: "kaiming" or "glorot".
    - `aspect`: alpha, the hidden width over the state size.

    **Returns:** sigma_w*.

    >>> round(critical_sigma_w_relu(3), 6)
    1.259921
    >>> round(critical_sigma_w_relu(3, "glorot", aspect=1.0), 6)
    1.781797
    """
    errors.whole("depth", depth)
    errors.one_of("scaling", scaling, SCALINGS)
    aspect = float(errors.positive("aspect", aspect))
    if scaling == "kaiming":
        return 2.0 ** (0.5 * (1 - 1 / depth))
    if depth == 1:
        return 2.0**0.5  # one square matrix of variance sigma_w^2 / 2N: radius 1 at sigma_w = sqrt 2
    return 2.0 ** (1 - 1.5 / depth) * ((1 + aspect) * ((1 + aspect) / aspect)) ** (0.5 / depth)
