"""Provenance: the versions, devices and commit that a stored number was computed with."""

import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

__all__ = ["environment", "version"]

PACKAGES = ("gnode", "jax", "jaxlib", "equinox", "diffrax", "optax", "numpy", "scipy")


def environment() -> dict[str, Any]:
    """Returns the versions, platform, devices and commit of this process, as stored with every run.

    >>> sorted(environment())
    ['commit', 'devices', 'platform', 'versions']
    """
    import jax  # takes two seconds, which `gnode --version` need not wait for

    return {
        "versions": {"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
        "platform": f"{platform.system()} {platform.machine()}",
        "devices": [device.device_kind for device in jax.devices()],
        "commit": _commit(),
    }


def version(package: str) -> str:
    """Returns the installed version of a package; gnode's own also where it runs from a source tree."""
    from gnode import __version__

    if package == "gnode":
        return __version__
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _commit() -> str | None:
    """The commit of gnode's source tree, if it runs from one; '+' marks uncommitted changes."""
    here = Path(__file__).resolve().parent
    # Without its optional lock: a process that is killed meanwhile would leave the lock behind in the user's repository.
    git = ["git", "--no-optional-locks", "-C", str(here)]
    try:
        commit = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, timeout=5)
        changed = subprocess.run([*git, "status", "--porcelain", "--", "."], capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.SubprocessError):
        return None
    if commit.returncode != 0:
        return None
    return commit.stdout.strip() + ("+" if changed.stdout.strip() else "")
