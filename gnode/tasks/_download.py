"""Downloads of original data files, verified by checksum."""

import hashlib
import http.client
import urllib.parse
import urllib.request
from collections.abc import Callable, Generator
from pathlib import Path

from gnode import errors, files
from gnode.tasks import cache
from gnode.tasks._formats.plain import told
from gnode.tasks._replacing import locked

BLOCK = 2**20
"""Bytes that are read at a time."""
TIMEOUT = 60
"""Seconds to wait for an answer."""
MAX_BYTES = 2**34
"""Largest download: 16 GiB, some seven times that of the largest original."""

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
    check_url(url)
    found = _fetch(url, target, progress)
    expected = sha256 or known_checksums().get(url)
    if expected is not None and found != expected.lower():
        whose = "its checksum" if sha256 else f"the one remembered in {cache.cache_folder() / cache.CHECKSUMS}"
        raise errors.ArgumentError(
            f"{url} gave a file whose SHA-256 is {found}, but {whose} is {expected}; nothing was kept."
        )
    return found


def check_url(url: str) -> None:
    """Raises an `ArgumentError` if `url` cannot be the address of a file on the web."""
    shown = errors.shown(url)
    if not isinstance(url, str) or not url.lower().startswith(("http://", "https://")):
        raise errors.ArgumentError(f"url is {shown}, but must begin with https:// or http://.")
    if not url.isascii() or any(character <= " " or character == "\x7f" for character in url):
        raise errors.ArgumentError(
            f"url is {shown}, but must not hold spaces or other than ASCII; write them as %20 etc."
        )
    try:
        parts = urllib.parse.urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as problem:
        raise errors.ArgumentError(f"url is {shown}, which is not an address ({told(problem)}).") from problem
    if not host or port == 0:
        raise errors.ArgumentError(f"url is {shown}, but must name a host, as in https://example.org/file.zip.")


def _fetch(url: str, target: Path, progress: Progress) -> str:
    """Downloads `url` to `target` and returns its SHA-256."""
    digest = hashlib.sha256()
    done = 0
    total = None
    with target.open("wb") as file:
        for block, total in _blocks(url):
            file.write(block)
            digest.update(block)
            done += len(block)
            if max(done, total or 0) > MAX_BYTES:
                raise errors.ArgumentError(
                    f"{url} gives {max(done, total or 0)} bytes or more, but may give at most {MAX_BYTES}; nothing was kept."
                )
            progress(done, total)
    if total is not None and done != total:
        raise errors.ArgumentError(f"{url} broke off after {done} of {total} bytes; try again.")
    return digest.hexdigest()


def _blocks(url: str) -> Generator[tuple[bytes, int | None], None, None]:
    """Yields what is at `url` in blocks, each with the number of all bytes if the server tells it."""
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "gnode"})
        with _opener().open(request, timeout=TIMEOUT) as answer:
            length = answer.headers.get("Content-Length", "").strip()
            total = int(length) if length.isascii() and length.isdigit() and len(length) < 20 else None
            yield b"", total
            while block := answer.read(BLOCK):
                yield block, total
    # ValueError: a redirection to what is no address. OSError: whatever the network says.
    except (http.client.HTTPException, OSError, ValueError) as problem:
        reason = getattr(problem, "reason", None) or problem
        raise errors.ArgumentError(
            f"{url} cannot be fetched ({errors.shortened(str(reason))}); fetch it by other means and use `gnode data add`."
        ) from problem


def _opener() -> urllib.request.OpenerDirector:
    """Returns an opener for the web alone: a redirection to a file of this machine, or to ftp, is not followed."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPRedirectHandler,
        urllib.request.HTTPErrorProcessor,
        urllib.request.UnknownHandler,
    ):
        opener.add_handler(handler())
    return opener


def sha256_of(path: Path) -> str:
    """Returns the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def known_checksums() -> dict[str, str]:
    """Returns the checksums of earlier downloads, by URL."""
    path = cache.cache_folder() / cache.CHECKSUMS
    if not path.exists():
        return {}
    try:
        found = files.read_json(path)
    except errors.StoreError as problem:
        reason = problem.__cause__ or problem
        raise errors.StoreError(f"{path} is broken and cannot be read ({told(reason)}); remove it.") from problem
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise errors.StoreError(f"{path} is broken and cannot be read (it is not a table of checksums); remove it.")
    return found


def record_checksum(url: str, sha256: str) -> None:
    """Records the checksum of a download. Call it only after the download was converted to a data set."""
    with cache.writing(), locked(cache.cache_folder()):
        files.write_json(cache.cache_folder() / cache.CHECKSUMS, known_checksums() | {url: sha256})
