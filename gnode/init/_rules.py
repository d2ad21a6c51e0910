"""Settings of the named initialisers, which can be listed without importing jax."""

from typing import Any

from gnode import errors
from gnode.arguments import checked

__all__ = ["RULES", "SMALL_BIAS_STD", "describe_rule"]

SMALL_BIAS_STD = 1e-3
"""The standard deviation of the paper's biases, which are drawn from N(0, 1e-6)."""

RULES: dict[str, dict[str, Any]] = {
    "glorot_uniform": {"scaling": "glorot", "distribution": "uniform"},
    "glorot_normal": {"scaling": "glorot", "distribution": "normal"},
    "kaiming_uniform": {"scaling": "kaiming", "distribution": "uniform"},
    "kaiming_normal": {"scaling": "kaiming", "distribution": "normal"},
    "pytorch": {"scaling": "kaiming", "distribution": "uniform", "sigma_w": 3**-0.5},
    "critical": {"scaling": "kaiming", "distribution": "normal", "critical": "theory"},
    "critical_glorot": {"scaling": "glorot", "distribution": "normal", "critical": "theory"},
    "empirical_critical": {"scaling": "kaiming", "distribution": "normal", "critical": "empirical"},
}
"""The arguments of `Initialiser` for each named initialiser."""


@checked
def describe_rule(name: str) -> str:
    """Describes a named initialiser in one line, for `gnode list`.

    >>> describe_rule("kaiming_normal")
    'normal, variance 2 / N_in'
    """
    rule = RULES[errors.one_of("name", name, RULES)]
    fan = {"kaiming": "N_in", "glorot": "(N_in + N_out)"}[rule["scaling"]]
    kinds = {
        "no": f"variance 2 / {fan}" if "sigma_w" not in rule else f"variance 1 / (3 {fan}), PyTorch's own",
        "theory": f"variance sigma_w*^2 / {fan} in F, the critical scale of theory; 2 / {fan} elsewhere",
        "empirical": f"variance 1 / {fan} in F, then rescaled until -I + dF/dh is critical; 2 / {fan} elsewhere",
    }
    return f"{rule['distribution']}, {kinds[rule.get('critical', 'no')]}"
