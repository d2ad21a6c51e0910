"""Rules for single parts of a network that differ from the rule of the rest, and the drive of critical fields."""

import dataclasses

from gnode import errors
from gnode.init._initialiser import LARGEST, Initialiser, initialiser
from gnode.init._rules import RULES

__all__ = ["driven_variance", "rule_of_part"]


def rule_of_part(name: str, rule: str | Initialiser | None, rest: Initialiser) -> Initialiser:
    """Returns the rule that draws one part of a network, by default that of the rest, which sets the biases in any case.

    `name` is what errors call it.

    >>> rule_of_part("init_gate", "kaiming_normal", initialiser("glorot_normal", bias_std=0.1)).bias_std
    0.1
    """
    if rule is None:
        return rest
    found = rule if isinstance(rule, Initialiser) else initialiser(errors.one_of(name, rule, RULES))
    return dataclasses.replace(found, bias_std=rest.bias_std)


def driven_variance(drive: float, rest: Initialiser, for_U: Initialiser, inputs: int, units: int) -> float:
    """Returns the variance over units of U x, for inputs of mean square C_x = `drive` and U (units x D) drawn by its rule:

        Var (U x)_i = D Var(U_ij) C_x = sigma_u^2 C_x                  (Kaiming),
                                        sigma_u^2 C_x D / (D + N_1)    (Glorot, N_1 = `units`).

    `rest` is the rule of the recurrent weights, which has to be one that theory makes critical.

    >>> glorot, critical = initialiser("glorot_normal"), initialiser("critical")
    >>> round(driven_variance(1.0, critical, critical, 20, 80), 6), round(driven_variance(1.0, critical, glorot, 20, 80), 6)
    (2.0, 0.4)
    """
    drive = float(errors.not_negative("drive", drive))
    if drive > LARGEST:
        raise errors.ArgumentError(f"drive is {drive!r}, but must be at most {LARGEST:g}.")
    if drive and rest.critical != "theory":
        raise errors.ArgumentError(
            f"drive is {drive:g}, but it is only for the rules whose scale theory computes under drive; choose "
            "init='critical' or 'critical_glorot', or leave drive out."
        )
    if not inputs:
        return 0.0
    share = 1.0 if for_U.scaling == "kaiming" else inputs / (inputs + units)
    return for_U.sigma_w**2 * share * drive
