"""Downloads of original data files, verified by checksum."""

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from gnode import errors, files
from gnode.tasks import cache

BLOCK = 2**20
"""Bytes that are read at a time."""
TIMEOUT = 60
"""Seconds to wait for an answer."""
CHECKSUMS = "checksums.json"
"""File in the cache with the SHA-256 of the first download from each URL, for originals without a published checksum."""

Progress = Callable[[int, int | None], None]
"""Function that is called with the number of bytes received and the total, None if the total is unknown."""


def download(url: str, target: Path, sha256: str | None = None, progress: Progress = lambda done, total: None) -> str:
    """Downloads `url` to the file `target` and verifies its checksum.

    **Arguments:**

    - `url`: address that begins with https:// or http://.
    - `target`: file to write.
    - `sha256`: expected checksum; by default that of an earlier download from the same URL, if there was one.
    - `progress`: called after every block.

    **Returns:** the SHA-256 of the file.

    **Raises:** `ArgumentError` if the download fails or the checksum differs.
    """
    if not url.startswith(("http://", "https://")):
        raise errors.ArgumentError(f"url is {url!r}, but must begin with https:// or http://.")
    found = _fetch(url, target, progress)
    expected = sha256 or known_checksums().get(url)
    if expected is not None and found != expected.lower():
        whose = "its checksum" if sha256 else f"the one remembered in {cache.cache_folder() / CHECKSUMS}"
        raise errors.ArgumentError(
            f"{url} gave a file whose SHA-256 is {found}, but {whose} is {expected}; nothing was kept."
        )
    return found


def _fetch(url: str, target: Path, progress: Progress) -> str:
    """Downloads `url` to `target` and returns its SHA-256."""
    digest = hashlib.sha256()
    done = 0
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "gnode"})
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer, target.open("wb") as file:
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
    """Returns the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def known_checksums() -> dict[str, str]:
    """Returns the checksums of earlier downloads, by URL."""
    path = cache.cache_folder() / CHECKSUMS
    if not path.exists():
        return {}
    try:
        return files.read_json(path)
    except errors.StoreError as problem:
        raise errors.StoreError(f"{str(problem).removesuffix('.')}; remove it.") from problem


def record_checksum(url: str, sha256: str) -> None:
    """Records the checksum of a download. Call it only after the download was converted to a data set."""
    with cache.writing():
        files.write_json(cache.cache_folder() / CHECKSUMS, known_checksums() | {url: sha256})
