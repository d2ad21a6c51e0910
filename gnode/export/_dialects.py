"""How numpy, jax and PyTorch spell the operations of programs."""

import dataclasses
from typing import Any

SUM, PRODUCT, SIGN, POWER, ATOM = range(1, 6)
"""How tightly an expression binds."""
COMPARISON = 0

INFIX = {
    "add": ("+", SUM),
    "sub": ("-", SUM),
    "mul": ("*", PRODUCT),
    "div": ("/", PRODUCT),
    "pow": ("**", POWER),
    "lt": ("<", COMPARISON),
    "le": ("<=", COMPARISON),
    "gt": (">", COMPARISON),
    "ge": (">=", COMPARISON),
    "eq": ("==", COMPARISON),
    "ne": ("!=", COMPARISON),
    "and": ("&", COMPARISON),
    "or": ("|", COMPARISON),
    "xor": ("^", COMPARISON),
}
"""Operators that are the same everywhere."""

TRUTHS = {"lt", "le", "gt", "ge", "eq", "ne", "and", "or", "xor", "not", "is_finite", "reduce_and", "reduce_or"}
"""Operations whose result is true or false."""
OF_TRUTHS = {"and", "or", "xor", "not", "reduce_and", "reduce_or"}

_SAME = (
    *("exp", "log", "log1p", "expm1", "tanh", "sin", "cos", "tan", "sinh", "cosh", "abs", "sign", "sqrt", "square"),
    *("floor", "ceil", "trunc", "round"),
)
_LONGER = {
    **{name: f"arc{name[1:]}" for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")},
    "atan2": "arctan2",
    "rem": "fmod",
    "max": "maximum",
    "min": "minimum",
    "is_finite": "isfinite",
}
_REDUCED = {
    "reduce_sum": "sum",
    "reduce_max": "amax",
    "reduce_min": "amin",
    "reduce_prod": "prod",
    "reduce_and": "all",
    "reduce_or": "any",
    "cumsum": "cumsum",
    "cumprod": "cumprod",
}


@dataclasses.dataclass(frozen=True)
class Dialect:
    """The words of a library.

    - `module`: what its functions are called by.
    - `special`: formats of operations that are not called by their own names; {0}, {1} are operands, {axis} an axis.
    - `helpers`: functions that a file has to define, by the operation that uses them.
    - `cast`, `full`, `places`: a truth value as a number, a number of a shape, and a list of places as an index.
    - `takes_numbers`: whether functions of two arguments take plain numbers.
    """

    module: str
    special: dict[str, str]
    helpers: dict[str, str]
    cast: str
    full: str
    places: str
    takes_numbers: bool = True

    def call(self, op: str, *operands: str, axis: Any = None) -> str:
        if op in self.special:
            return self.special[op].format(*operands, axis=axis)
        name = _LONGER.get(op) or _REDUCED.get(op) or op
        given = operands if axis is None else (*operands, str(axis))
        return f"{self.module}.{name}({', '.join(given)})"

    def knows(self, op: str) -> bool:
        return op in self.special or op in _SAME or op in _LONGER or op in _REDUCED or op in INFIX


_SIGMOID = """\
def sigmoid(a):
    return np.exp(-np.logaddexp(0, -a))
"""
_ERF = """\
def erf(a):
    return np.vectorize(math.erf, otypes=[a.dtype])(a)
"""

NUMPY = Dialect(
    "np",
    {
        "logistic": "sigmoid({0})",
        "erf": "erf({0})",
        "rsqrt": "1 / np.sqrt({0})",
        "cbrt": "np.cbrt({0})",
        "cummax": "np.maximum.accumulate({0}, axis={axis})",
        "cummin": "np.minimum.accumulate({0}, axis={axis})",
    },
    {"logistic": _SIGMOID, "erf": _ERF},
    "{0}.astype({like}.dtype)",
    "np.full({shape}, {number}, {like}.dtype)",
    "{0}",
)
JAX = Dialect(
    "jnp",
    {
        "logistic": "jax.nn.sigmoid({0})",
        "erf": "jax.scipy.special.erf({0})",
        "rsqrt": "jax.lax.rsqrt({0})",
        "cbrt": "jnp.cbrt({0})",
        "cummax": "jnp.maximum.accumulate({0}, axis={axis})",
        "cummin": "jnp.minimum.accumulate({0}, axis={axis})",
    },
    {},
    "{0}.astype({like}.dtype)",
    "jnp.full({shape}, {number}, {like}.dtype)",
    "jnp.array({0})",
)
TORCH = Dialect(
    "torch",
    {
        "logistic": "torch.sigmoid({0})",
        "erf": "torch.erf({0})",
        "rsqrt": "torch.rsqrt({0})",
        "cbrt": "torch.sign({0}) * torch.abs({0}) ** (1 / 3)",
        "cummax": "torch.cummax({0}, {axis}).values",
        "cummin": "torch.cummin({0}, {axis}).values",
    },
    {},
    "{0}.to({like}.dtype)",
    "{like}.new_full({shape}, {number})",
    "{0}",
    takes_numbers=False,
)
