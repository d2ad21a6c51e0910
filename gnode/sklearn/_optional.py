"""The base classes of scikit-learn, or, where it is not installed, classes that say so when one is made."""

import importlib
from typing import Any

from gnode import errors

try:
    from sklearn.base import (  # type: ignore[import-not-found]
        BaseEstimator,  # type: ignore[no-redef]
        ClassifierMixin,  # type: ignore[no-redef]
        RegressorMixin,  # type: ignore[no-redef]
    )
except ImportError:

    class BaseEstimator:  # type: ignore[no-redef]
        def __new__(cls, *args: Any, **options: Any) -> Any:
            raise errors.GnodeError(
                f"{cls.__name__} needs scikit-learn, which is not installed: pip install 'gnode[sklearn]'."
            )

    class ClassifierMixin:  # type: ignore[no-redef]
        pass

    class RegressorMixin:  # type: ignore[no-redef]
        pass


__all__ = ["BaseEstimator", "ClassifierMixin", "RegressorMixin", "part"]


def part(name: str) -> Any:
    """Imports a module of scikit-learn, such as "metrics", by a function that needs it: its annotations are not ours."""
    return importlib.import_module(f"sklearn.{name}")
