"""Closed forms for feed-forward stacks of ReLU units (Appendix A, crit_relu and crit_relu2)."""

from gnode import errors
from gnode.theory._mean_field import SCALINGS


def critical_sigma_w_relu(depth: int, scaling: str = "kaiming", aspect: float = 1.0) -> float:
    """The weight scale sigma_w* at which -h + F(h) sits at the edge of chaos, for a ReLU stack of `depth` L.

        Kaiming:  sigma_w* = sqrt(2^(1 - 1/L))
        Glorot:   sigma_w* = 2^(1 - 3/2L) * ((1 + alpha)^2 / alpha)^(1/2L),   alpha = H / N

    The paper's Glorot form lacks the 1 / alpha, because it takes the ratio of the last layer, N / H, for that
    of the first, H / N; the two agree at alpha = 1, and sampled networks follow the form used here at every
    other ratio. A stack of depth 1 has no hidden layer, so its aspect ratio is N / N = 1 whatever is asked
    for.

    Arguments:
        depth: L, the number of weight matrices.
        scaling: "kaiming" or "glorot".
        aspect: alpha, hidden width over state size.

    Returns:
        sigma_w*.

    >>> round(critical_sigma_w_relu(3), 6)
    1.259921
    >>> round(critical_sigma_w_relu(3, "glorot", aspect=1.0), 6)
    1.781797
    """
    errors.whole("depth", depth)
    errors.one_of("scaling", scaling, SCALINGS)
    errors.positive("aspect", aspect)
    if scaling == "kaiming":
        return 2.0 ** (0.5 * (1 - 1 / depth))
    if depth == 1:
        return 2.0**0.5  # one square matrix of variance sigma_w^2 / 2N: radius 1 at sigma_w = sqrt 2
    return 2.0 ** (1 - 1.5 / depth) * ((1 + aspect) ** 2 / aspect) ** (0.5 / depth)
