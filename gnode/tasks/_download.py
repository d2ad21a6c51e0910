"""Fetching an original, with its checksum."""

import hashlib
import http.client
import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from gnode import errors
from gnode.tasks.cache import cache_folder

BLOCK = 2**20
SECONDS_TO_ANSWER = 60
REMEMBERED = "checksums.json"
"""In the cache: the SHA-256 of what each address first gave, for originals whose checksum nobody has published."""

Progress = Callable[[int, int | None], None]
"""Told how many bytes have come, of how many if that is known."""


def download(url: str, target: Path, sha256: str | None = None, progress: Progress = lambda done, total: None) -> str:
    """Fetches `url` into the file `target`, and returns its SHA-256.

    It is compared with `sha256`, or else with what the same address gave before (`checksums.json` in the cache).
    """
    if not url.startswith(("http://", "https://")):
        raise errors.ArgumentError(f"url is {url!r}, but must begin with https:// or http://.")
    found = _fetch(url, target, progress)
    expected = sha256 or remembered().get(url)
    if expected is not None and found != expected.lower():
        whose = "its checksum" if sha256 else f"the one remembered in {cache_folder() / REMEMBERED}"
        raise errors.ArgumentError(
            f"{url} gave a file whose SHA-256 is {found}, but {whose} is {expected}; nothing was kept."
        )
    return found


def _fetch(url: str, target: Path, progress: Progress) -> str:
    digest = hashlib.sha256()
    done = 0
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "gnode"})
        with urllib.request.urlopen(request, timeout=SECONDS_TO_ANSWER) as answer, target.open("wb") as file:
            length = answer.headers.get("Content-Length")
            total = int(length) if length else None
            while block := answer.read(BLOCK):
                file.write(block)
                digest.update(block)
                done += len(block)
                progress(done, total)
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as problem:
        reason = getattr(problem, "reason", None) or problem
        raise errors.ArgumentError(
            f"{url} cannot be fetched ({reason}); fetch it by other means and use `gnode data add`."
        ) from problem
    if total is not None and done != total:
        raise errors.ArgumentError(f"{url} broke off after {done} of {total} bytes; try again.")
    return digest.hexdigest()


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remembered() -> dict[str, str]:
    """The checksums of earlier downloads, by address."""
    path = cache_folder() / REMEMBERED
    if not path.exists():
        return {}
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as problem:
        raise errors.StoreError(f"{path} is broken and cannot be read ({problem}); remove it.") from problem


def remember(url: str, sha256: str) -> None:
    """Adds a checksum to those of earlier downloads. To be called once the download has proved to be a data set."""
    path = cache_folder() / REMEMBERED
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(json.dumps(remembered() | {url: sha256}, indent=1) + "\n")
    os.replace(temporary, path)
