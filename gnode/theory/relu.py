"""Closed forms for feed-forward stacks of ReLU units (Appendix A of the paper, equations crit_relu and crit_relu2)."""

from gnode import errors

SCALINGS = ("kaiming", "glorot")


def critical_sigma_w_relu(depth: int, scaling: str = "kaiming", aspect: float = 1.0) -> float:
    """The weight scale sigma_w* at which -h + F(h) sits at the edge of chaos, for a ReLU stack of `depth` L.

    With alpha = aspect (hidden width over state size H / N) and beta = 1 under Glorot scaling, and alpha = beta = 0 under
    Kaiming scaling,

        sigma_w* = (1 + alpha)^(1/L) * sqrt(2^(1 - 1/L) * (1 + beta)^(1 - 2/L)).

    A stack of depth 1 has no hidden layer, so its aspect ratio is N / N = 1 whatever is asked for.

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
    return (1 + aspect) ** (1 / depth) * 2.0 ** (1 - 1.5 / depth)
