"""The run-time type checker of the tests: shapes and dtypes of arrays, nothing else.

Plain types (int, str, ...) stay unchecked, because the library itself answers those mistakes, and in better words.
"""

import jaxtyping
from beartype import beartype


def check(function):
    """Checks the arguments and the result of `function` that are annotated as arrays of a certain shape."""
    annotations = getattr(function, "__annotations__", {})
    function.__annotations__ = {name: kind for name, kind in annotations.items() if _is_shaped(kind)}
    return beartype(function)


def _is_shaped(kind):
    return isinstance(kind, type) and issubclass(kind, jaxtyping.AbstractArray)
