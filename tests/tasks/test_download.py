"""Odd addresses, and servers that answer oddly: a data set or one sentence, and nothing left in the cache."""

import gzip
import hashlib
import http.server
import json
import threading

import pytest
import small_data

from gnode import errors, tasks
from gnode.tasks import _download
from gnode.tasks.datasets import obtain
from gnode.tasks.datasets.originals import dataset


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GNODE_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def walker(tmp_path_factory):
    made = tmp_path_factory.mktemp("made")
    rollouts = small_data.write_rollouts(made / "walker", small_data.rollouts(count=10, samples=90, channels=2))
    return small_data.zip_folder(rollouts, made / "walker.zip").read_bytes()


@pytest.fixture(scope="module")
def server():
    """A web server on this machine that answers with the status, headers and content that it is given."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, headers, content = found.answer if self.path == "/first" else (200, {}, found.second)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *words):
            pass

    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{found.server_port}"
    found.block_on_close = False
    found.second = b""
    threading.Thread(target=found.serve_forever, args=(0.05,), daemon=True).start()
    yield found
    found.shutdown()
    found.server_close()


def is_empty(folder):
    return not folder.exists() or not list(folder.iterdir())


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("file:///etc/passwd", "must begin with https"),
        ("ftp://127.0.0.1/a.zip", "must begin with https"),
        ("walker.zip", "must begin with https"),
        ("", "must begin with https"),
        ("http://", "must name a host"),
        ("http:///a.zip", "must name a host"),
        ("http://:80/a.zip", "must name a host"),
        ("http://127.0.0.1:0/a.zip", "must name a host"),
        ("http://127.0.0.1:99999/a.zip", "not an address"),
        ("http://127.0.0.1:abc/a.zip", "not an address"),
        ("http://[::1/a.zip", "not an address"),
        ("http://127.0.0.1/a b.zip", "must not hold spaces"),
        ("http://127.0.0.1/ä.zip", "must not hold spaces or other than ASCII"),
        ("http://127.0.0.1/a\r\nHost: b", "must not hold spaces"),
        ("http://127.0.0.1:9/a.zip", "cannot be fetched"),
        ("http://a..b/a.zip", "cannot be fetched"),
        (f"http://{'a' * 70}.example/a.zip", "cannot be fetched"),
    ],
)
def test_odd_addresses(url, sentence, folder):
    with pytest.raises(errors.GnodeError, match=sentence) as found:
        obtain.get(dataset("walker2d"), url=url)
    assert len(str(found.value).splitlines()) == 1
    assert is_empty(folder)


@pytest.mark.parametrize(
    "headers", [{"Content-Length": "-5"}, {"Content-Length": "many"}, {"Content-Length": "1e3"}, {}]
)
def test_a_length_that_is_none_is_not_believed(headers, server, walker, folder):
    server.answer = (200, headers | {"Content-Disposition": 'attachment; filename="../../evil"'}, walker)
    told = []
    obtain.get(dataset("walker2d"), url=f"{server.url}/first", progress=lambda *now: told.append(now))
    assert told[-1] == (len(walker), None)
    assert len(tasks.make("walker2d").test) > 0
    assert {path.name for path in folder.iterdir()} == {"walker2d", "checksums.json"}


@pytest.mark.parametrize(
    ("status", "headers", "sentence"),
    [
        (200, {"Content-Length": "10"}, "broken or truncated|no rollouts"),
        (200, {"Content-Length": "100000000"}, "broke off after"),
        (200, {"Content-Length": "99999999999999"}, "gives 99999999999999 bytes or more, but may give at most"),
        (302, {"Location": "file:///etc/passwd"}, "cannot be fetched"),
        (302, {"Location": "ftp://127.0.0.1/a"}, "cannot be fetched"),
        (302, {"Location": "http://[::1"}, "cannot be fetched"),
        (302, {"Location": "http://127.0.0.1:abc/"}, "cannot be fetched"),
        (302, {"Location": "/first"}, "cannot be fetched"),
        (302, {}, "cannot be fetched"),
        (404, {}, "cannot be fetched"),
        (500, {}, "cannot be fetched"),
        (204, {}, "no rollouts|broken or truncated|does not exist"),
    ],
)
def test_odd_answers(status, headers, sentence, server, walker, folder):
    server.answer = (status, headers, walker if status == 200 else b"")
    with pytest.raises(errors.GnodeError, match=sentence) as found:
        obtain.get(dataset("walker2d"), url=f"{server.url}/first")
    assert len(str(found.value).splitlines()) == 1
    assert is_empty(folder)


def test_a_redirection_to_another_place_of_the_web(server, walker, folder):
    server.answer, server.second = (302, {"Location": f"{server.url}/second"}, b""), walker
    obtain.get(dataset("walker2d"), url=f"{server.url}/first")
    assert len(tasks.make("walker2d").test) > 0


def test_an_encoding_that_was_not_asked_for(server, walker, folder):
    """A server may call a .tar.gz file an encoding of a .tar file: the bytes are kept as they come."""
    server.answer = (200, {"Content-Encoding": "gzip"}, walker)
    obtain.get(dataset("walker2d"), url=f"{server.url}/first")
    about = json.loads((folder / "walker2d" / "about.json").read_text())
    assert about["made_from"]["sha256"] == hashlib.sha256(walker).hexdigest()
    twice = gzip.compress(walker)
    server.answer = (200, {"Content-Encoding": "gzip"}, twice)
    with pytest.raises(errors.ArgumentError, match="broken or truncated"):
        obtain.get(
            dataset("walker2d"), url=f"{server.url}/first", replace=True, sha256=hashlib.sha256(twice).hexdigest()
        )


def test_a_stream_without_end(server, folder, monkeypatch):
    monkeypatch.setattr(_download, "MAX_BYTES", 10**6)
    server.answer = (200, {}, bytes(3 * 10**6))
    with pytest.raises(errors.ArgumentError, match="bytes or more, but may give at most 1000000; nothing was kept"):
        obtain.get(dataset("walker2d"), url=f"{server.url}/first")
    assert is_empty(folder)


@pytest.mark.parametrize("content", ["[]", '{"a": 3}', "3", "null"])
def test_a_table_of_checksums_that_is_none(content, server, walker, folder):
    server.answer = (200, {}, walker)
    folder.mkdir()
    (folder / "checksums.json").write_text(content)
    with pytest.raises(errors.StoreError, match=r"checksums.json is broken and cannot be read .*; remove it\.$"):
        obtain.get(dataset("walker2d"), url=f"{server.url}/first")
