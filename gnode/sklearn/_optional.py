"""The base classes of scikit-learn, or, where it is not installed, classes that say so when one is made."""

import importlib
from typing import Any

from gnode import errors

BaseEstimator: Any
ClassifierMixin: Any
RegressorMixin: Any

try:
    _base = importlib.import_module("sklearn.base")
except ImportError:

    class _Missing:
        def __new__(cls, *args: Any, **options: Any) -> Any:
            raise errors.GnodeError(
                f"{cls.__name__} needs scikit-learn, which is not installed: pip install 'gnode[sklearn]'."
            )

    class _Nothing:
        pass

    BaseEstimator, ClassifierMixin, RegressorMixin = _Missing, _Nothing, _Nothing
else:
    BaseEstimator, ClassifierMixin, RegressorMixin = _base.BaseEstimator, _base.ClassifierMixin, _base.RegressorMixin


__all__ = ["BaseEstimator", "ClassifierMixin", "RegressorMixin", "part"]


def part(name: str) -> Any:
    """Imports a module of scikit-learn, such as "metrics", by a function that needs it: its annotations are not ours."""
    return importlib.import_module(f"sklearn.{name}")
