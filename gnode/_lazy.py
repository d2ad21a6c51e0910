"""Public names that are imported when they are first used.

A room lists its public names once, in `__init__.pyi`: type checkers read that file, and `public_names` reads it at run time.
Importing a room is therefore cheap, so that `gnode --help` does not wait for jax.
"""

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["public_names"]


def public_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Reads the public names of a package from its stub.

    **Arguments:** `package` and `file`, the package's own `__name__` and `__file__`.

    **Returns:** the package's `__getattr__`, `__dir__` and `__all__`.
    """
    origins = _origins(Path(file).with_suffix(".pyi"))
    exported = sorted(origins)

    def load(name: str) -> Any:
        if name not in origins:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, original = origins[name]
        if module == package:  # a room of the package
            return importlib.import_module(f"{package}.{original}")
        found = getattr(importlib.import_module(module), original)
        if "jax" in sys.modules:  # before the first program is compiled
            from gnode import compilation_cache

            compilation_cache.begin()
        return found

    return load, lambda: exported, exported


def _origins(stub: Path) -> dict[str, tuple[str, str]]:
    """Where each public name is defined: its module and its name there."""
    imports = [node for node in ast.parse(stub.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
    return {alias.asname: (node.module or "", alias.name) for node in imports for alias in node.names if alias.asname}
