"""Adding a data set to the cache, from a URL or from local files."""

from collections.abc import Sequence
from pathlib import Path

from gnode import errors
from gnode.arguments import checked
from gnode.tasks import cache
from gnode.tasks._download import Progress, check_url, download, record_checksum, sha256_of
from gnode.tasks._formats.plain import plain_file
from gnode.tasks.datasets.originals import DATASETS, DataSet


@checked
def get(
    data: DataSet,
    *,
    url: str | None = None,
    sha256: str | None = None,
    replace: bool = False,
    progress: Progress = lambda done, total: None,
) -> Path:
    """Downloads the original of a data set, verifies its checksum, and stores its compact form in the cache.

    **Arguments:**

    - `data`: the data set.
    - `url`: address of the original, if not the usual one.
    - `sha256`: expected checksum. By default the published one for the usual address, otherwise that of the first download
      from the same address.
    - `replace`: whether to replace the data set if it is in the cache.
    - `progress`: called with the bytes received and the total.

    **Returns:** the folder of the data set.

    No example: it downloads a file.
    """
    cache.tidy(tuple(DATASETS))
    if not replace:
        cache.refuse_to_replace(data.name, data.files)
    address = data.url if url is None else url
    check_url(address)
    published = data.sha256 if url is None else None
    with cache.temporary_folder(data.name) as folder:
        path = folder / "original"
        found = download(address, path, sha256 or published, progress)
        stored = _store(data, [path], {"url": address, "sha256": found}, replace)
    record_checksum(address, found)
    return stored


@checked
def add(data: DataSet, paths: Sequence[Path], *, replace: bool = False) -> Path:
    """Stores a data set in the cache from local files.

    **Arguments:**

    - `data`: the data set.
    - `paths`: the original (file, folder or archive), or the compact files.
    - `replace`: whether to replace the data set if it is in the cache.

    **Returns:** the folder of the data set.

    No example: it needs the original files.
    """
    if not paths:
        raise errors.ArgumentError(f"paths is empty, but must name {data.accepts}.")
    paths = [Path(path) for path in paths]
    for path in paths:
        if not path.is_dir():
            plain_file(path)
    cache.tidy(tuple(DATASETS))
    if not replace:
        cache.refuse_to_replace(data.name, data.files)
    files = {path.name: sha256_of(path) for path in paths if path.is_file()}
    return _store(data, paths, {"files": files, "folders": [path.name for path in paths if path.is_dir()]}, replace)


def _store(data: DataSet, paths: Sequence[Path], source: dict, replace: bool) -> Path:
    about = {"name": data.name, "licence": data.licence, "made_from": source}
    return cache.store(data.name, data.compact(paths), about, replace)
