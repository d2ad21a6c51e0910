"""An interpreter of programs in numpy, written from the description of the format: it knows nothing of jax."""

import math

import numpy as np
from scipy import special

UNARY = {
    "neg": np.negative,
    "exp": np.exp,
    "log": np.log,
    "log1p": np.log1p,
    "expm1": np.expm1,
    "tanh": np.tanh,
    "logistic": special.expit,
    "erf": special.erf,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "abs": np.abs,
    "sign": np.sign,
    "sqrt": np.sqrt,
    "rsqrt": lambda a: 1 / np.sqrt(a),
    "square": np.square,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.round,
    "trunc": np.trunc,
    "is_finite": np.isfinite,
    "not": np.logical_not,
}
BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
    "pow": np.power,
    "atan2": np.arctan2,
    "rem": np.fmod,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}
REDUCTIONS = {
    "reduce_sum": np.sum,
    "reduce_max": np.max,
    "reduce_min": np.min,
    "reduce_prod": np.prod,
    "reduce_and": np.all,
    "reduce_or": np.any,
}
CUMULATIVE = {
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "cummax": np.maximum.accumulate,
    "cummin": np.minimum.accumulate,
}
OPERATIONS = {*UNARY, *BINARY, *REDUCTIONS, *CUMULATIVE} | {
    *("integer_pow", "select_n", "dot_general", "broadcast_in_dim", "reshape", "transpose", "concatenate", "slice"),
    *("take", "put", "iota"),
}


def evaluate(program, arrays, *inputs):
    """Computes the outputs of a program in double; `arrays` are the constants by name."""
    values = [np.asarray(given, np.float64) for given in inputs]
    assert [list(value.shape) for value in values] == program["inputs"]
    values += [np.asarray(arrays[name], np.float64) for name in program["constants"]]
    first_literal = len(values)
    values += [np.float64(number) for number in program["literals"]]
    literals = range(first_literal, len(values))
    for equation in program["equations"]:
        assert equation["out"] == len(values)
        assert all(place < len(values) for place in equation["in"])
        operands = [values[place] for place in equation["in"]]
        with np.errstate(all="ignore"):
            result = np.asarray(_result(equation, operands, literals), np.float64)
        assert result.shape == tuple(equation["shape"]), equation
        values.append(result)
    return [values[place] for place in program["outputs"]]


def _result(equation, operands, literals):
    op, shape = equation["op"], tuple(equation["shape"])
    if op in UNARY or op in BINARY or op in ("select_n", "integer_pow"):
        for place, operand in zip(equation["in"], operands):
            assert operand.shape == shape or place in literals, equation  # the page broadcasts nothing else
    if op in UNARY:
        return np.broadcast_to(UNARY[op](operands[0]), shape)
    if op in BINARY:
        return np.broadcast_to(BINARY[op](*operands), shape)
    if op in REDUCTIONS:
        return REDUCTIONS[op](operands[0], axis=tuple(equation["axes"]))
    if op in CUMULATIVE:
        axis, flip = equation["axis"], equation["reverse"]
        given = np.flip(operands[0], axis) if flip else operands[0]
        found = CUMULATIVE[op](given, axis=axis)
        return np.flip(found, axis) if flip else found
    return SHAPED[op](equation, operands, shape)


def _select_n(equation, operands, shape):
    which, *cases = (np.broadcast_to(operand, shape) for operand in operands)
    return np.choose(which.astype(int), cases)


def _dot_general(equation, operands, shape):
    (left, right), (batch_left, batch_right) = equation["dimension_numbers"]
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    names = [[""] * operand.ndim for operand in operands]
    for pairs in (zip(batch_left, batch_right), zip(left, right)):
        for a, b in pairs:
            names[0][a] = names[1][b] = next(letters)
    names = [[name or next(letters) for name in side] for side in names]
    free = [
        [name for axis, name in enumerate(side) if axis not in used]
        for side, used in ((names[0], [*left, *batch_left]), (names[1], [*right, *batch_right]))
    ]
    out = "".join([*(names[0][axis] for axis in batch_left), *free[0], *free[1]])
    return np.einsum(f"{''.join(names[0])},{''.join(names[1])}->{out}", *operands)


def _broadcast_in_dim(equation, operands, shape):
    given = [1] * len(shape)
    for axis, place in enumerate(equation["broadcast_dimensions"]):
        given[place] = operands[0].shape[axis]
    return np.broadcast_to(operands[0].reshape(given), shape)


def _slice(equation, operands, shape):
    spans = zip(equation["start"], equation["limit"], equation["strides"])
    return operands[0][tuple(slice(start, limit, stride) for start, limit, stride in spans)]


def _put(equation, operands, shape):
    found = operands[0].ravel().copy()
    if equation.get("add"):
        np.add.at(found, equation["indices"], operands[1].ravel())
    else:
        found[equation["indices"]] = operands[1].ravel()
    return found.reshape(shape)


def _iota(equation, operands, shape):
    axis = equation["dimension"]
    along = np.arange(shape[axis]).reshape([-1 if place == axis else 1 for place in range(len(shape))])
    return np.broadcast_to(along, shape)


SHAPED = {
    "integer_pow": lambda equation, operands, shape: np.power(operands[0], float(equation["y"])),
    "select_n": _select_n,
    "dot_general": _dot_general,
    "broadcast_in_dim": _broadcast_in_dim,
    "reshape": lambda equation, operands, shape: operands[0].reshape(shape),
    "transpose": lambda equation, operands, shape: operands[0].transpose(equation["permutation"]),
    "concatenate": lambda equation, operands, shape: np.concatenate(operands, axis=equation["dimension"]),
    "slice": _slice,
    "take": lambda equation, operands, shape: operands[0].ravel()[equation["indices"]].reshape(shape),
    "put": _put,
    "iota": _iota,
}
assert math.isclose(special.erf(1.0), math.erf(1.0))
