"""Bringing a data set into the cache: from an address, or from files that are here."""

from collections.abc import Sequence
from pathlib import Path

from gnode import errors
from gnode.tasks import cache
from gnode.tasks._download import Progress, download, remember, sha256_of
from gnode.tasks.datasets.originals import DataSet


def get(
    data: DataSet,
    *,
    url: str | None = None,
    sha256: str | None = None,
    replace: bool = False,
    progress: Progress = lambda done, total: None,
) -> Path:
    """Downloads the original of a data set, checks it, and keeps its compact form; returns the folder.

    **Arguments:** `url`, another address than the usual one; `sha256`, what the file must have: by default the published
    one of the usual address, or else what the address gave before; `replace` what the cache has.
    """
    if not replace:
        cache.refuse_to_replace(data.name, data.files)
    address = url or data.url
    published = data.sha256 if url is None else None
    with cache.passing_file(f"{data.name}-original") as path:
        found = download(address, path, sha256 or published, progress)
        folder = _keep(data, [path], {"url": address, "sha256": found}, replace)
    remember(address, found)
    return folder


def add(data: DataSet, paths: Sequence[Path], *, replace: bool = False) -> Path:
    """Converts an original (file, folder or archive), or takes over the compact files; returns the folder in the cache."""
    if not paths:
        raise errors.ArgumentError(f"which file? Give {data.accepts}.")
    for path in paths:
        if not Path(path).exists():
            raise errors.ArgumentError(f"{path} does not exist.")
    if not replace:
        cache.refuse_to_replace(data.name, data.files)
    files = {path.name: sha256_of(path) for path in paths if path.is_file()}
    return _keep(data, paths, {"files": files, "folders": [path.name for path in paths if path.is_dir()]}, replace)


def _keep(data: DataSet, paths: Sequence[Path], source: dict, replace: bool) -> Path:
    about = {"name": data.name, "licence": data.licence, "made_from": source}
    return cache.store(data.name, data.compact(paths), about, replace)
