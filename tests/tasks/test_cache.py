"""The cache: only whole data sets, whatever happens on the way."""

import dataclasses
import hashlib
import http.server
import json
import os
import threading

import numpy as np
import pytest
import small_data

from gnode import errors, tasks
from gnode.tasks import cache
from gnode.tasks.datasets import obtain
from gnode.tasks.datasets.originals import dataset


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setenv("GNODE_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def walker_zip(tmp_path):
    rollouts = small_data.write_rollouts(tmp_path / "made" / "walker", small_data.rollouts())
    return small_data.zip_folder(rollouts, tmp_path / "made" / "walker.zip")


@pytest.fixture(scope="module")
def running_server():
    """A web server on this machine: what is in `server.files` by path, and how much of it is sent before it breaks off."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path not in found.files:
                self.send_error(404)
                return
            content = found.files[self.path]
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: found.sent])

        def log_message(self, *words):
            pass

    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.files, found.sent = {}, None
    found.url = f"http://127.0.0.1:{found.server_port}"
    found.block_on_close = False
    threading.Thread(target=found.serve_forever, args=(0.05,), daemon=True).start()
    yield found
    found.shutdown()
    found.server_close()


@pytest.fixture
def server(running_server):
    """The same server without any files."""
    running_server.files, running_server.sent = {}, None
    return running_server


def nothing_but(folder, *names):
    return {path.name for path in folder.iterdir()} == set(names) if folder.exists() else not names


def test_the_place_of_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("GNODE_DATA", str(tmp_path))
    assert cache.cache_folder() == tmp_path
    monkeypatch.delenv("GNODE_DATA")
    for platform, variable, ending in (
        ("linux", "XDG_CACHE_HOME", "gnode"),
        ("win32", "LOCALAPPDATA", "gnode"),
        ("darwin", "HOME", "Library/Caches/gnode"),
    ):
        monkeypatch.setenv(variable, str(tmp_path))
        monkeypatch.setattr("sys.platform", platform)
        assert cache.cache_folder() == tmp_path / ending


def test_an_absent_data_set_says_how_to_get_it(folder):
    with pytest.raises(errors.ArgumentError, match=r"gnode data get walker2d.*gnode data add walker2d PATH"):
        tasks.make("walker2d")
    with pytest.raises(errors.ArgumentError, match="gnode data get speech --version 2"):
        tasks.make("speech", version=2)


def test_adding_an_original_and_then_its_compact_form(folder, walker_zip, tmp_path, monkeypatch):
    obtain.add(dataset("walker2d"), [walker_zip])
    assert nothing_but(folder, "walker2d")
    first = tasks.make("walker2d")
    about = json.loads((folder / "walker2d" / "about.json").read_text())
    assert about["made_from"]["files"] == {"walker.zip": hashlib.sha256(walker_zip.read_bytes()).hexdigest()}
    compact = folder / "walker2d" / "walker2d_rollouts.npz"
    monkeypatch.setenv("GNODE_DATA", str(tmp_path / "second"))
    obtain.add(dataset("walker2d"), [compact])
    np.testing.assert_array_equal(tasks.make("walker2d").test.inputs, first.test.inputs)
    monkeypatch.setenv("GNODE_DATA", str(folder / "walker2d"))  # the compact files themselves, side by side
    np.testing.assert_array_equal(tasks.make("walker2d").test.inputs, first.test.inputs)


def test_a_data_set_is_replaced_only_if_asked(folder, walker_zip, tmp_path):
    obtain.add(dataset("walker2d"), [walker_zip])
    other = small_data.write_rollouts(tmp_path / "other", small_data.rollouts(seed=1))
    with pytest.raises(errors.ArgumentError, match=r"already in .* --replace"):
        obtain.add(dataset("walker2d"), [other])
    before = tasks.make("walker2d").train.inputs
    obtain.add(dataset("walker2d"), [other], replace=True)
    assert not np.array_equal(before, tasks.make("walker2d").train.inputs)
    assert nothing_but(folder, "walker2d")


def test_a_failure_while_writing_leaves_what_was_there(folder, walker_zip, monkeypatch):
    obtain.add(dataset("walker2d"), [walker_zip])
    before = tasks.make("walker2d").train.inputs

    def full(file, **arrays):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(
        errors.StoreError, match=r"cannot write .*the disk is full.*; set GNODE_DATA to a folder of yours\.$"
    ):
        obtain.add(dataset("walker2d"), [walker_zip], replace=True)
    assert nothing_but(folder, "walker2d")
    np.testing.assert_array_equal(before, tasks.make("walker2d").train.inputs)


def test_an_interrupt_while_replacing_leaves_what_was_there(folder, walker_zip, monkeypatch):
    obtain.add(dataset("walker2d"), [walker_zip])
    before = tasks.make("walker2d").train.inputs
    replace, target = os.replace, folder / "walker2d"

    def interrupted(source, destination):
        if destination == target and ".old." not in source.name:
            raise KeyboardInterrupt
        replace(source, destination)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        obtain.add(dataset("walker2d"), [walker_zip], replace=True)
    assert nothing_but(folder, "walker2d")
    np.testing.assert_array_equal(before, tasks.make("walker2d").train.inputs)


def test_broken_checksums_are_one_sentence(folder, walker_zip, server):
    server.files["/walker.zip"] = walker_zip.read_bytes()
    folder.mkdir()
    (folder / "checksums.json").write_text("{")
    with pytest.raises(errors.StoreError, match=r"checksums.json is broken and cannot be read \(.*\); remove it\.$"):
        obtain.get(dataset("walker2d"), url=f"{server.url}/walker.zip")
    assert nothing_but(folder, "checksums.json")


def test_a_process_that_is_interrupted_leaves_nothing(folder, walker_zip, monkeypatch):
    def interrupted(file, **arrays):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        obtain.add(dataset("walker2d"), [walker_zip])
    assert nothing_but(folder)


def test_bad_files_leave_nothing(folder, walker_zip, tmp_path):
    with pytest.raises(errors.ArgumentError, match="does not exist"):
        obtain.add(dataset("walker2d"), [tmp_path / "nowhere.zip"])
    walker_zip.write_bytes(walker_zip.read_bytes()[:5000])
    with pytest.raises(errors.ArgumentError, match="broken or truncated"):
        obtain.add(dataset("walker2d"), [walker_zip])
    (tmp_path / "empty").mkdir()
    for name, sentence in (
        ("walker2d", "no rollouts"),
        ("characters", "no trials of characters"),
        ("speech", "no clips"),
    ):
        with pytest.raises(errors.ArgumentError, match=sentence):
            obtain.add(dataset(name), [tmp_path / "empty"])
    assert nothing_but(folder)


def test_compact_files_are_checked(folder, tmp_path):
    whole = {"values": np.ones((6, 3), np.float32), "lengths": np.array([3, 3]), "labels": np.array([0, 1])}
    path = tmp_path / "character_trajectories.npz"
    np.savez(path, **whole, label_names=np.array(["a"]))
    with pytest.raises(errors.ArgumentError, match="not in order: label of trial 1 is 1"):
        obtain.add(dataset("characters"), [path])
    np.savez(path, **whole)
    with pytest.raises(errors.ArgumentError, match="lacks the array 'label_names'"):
        obtain.add(dataset("characters"), [path])
    part = tmp_path / "speech_commands_v1_mfcc_0.npz"
    np.savez(part, mfcc=np.zeros((1, 2, 3)))
    with pytest.raises(
        errors.ArgumentError, match=r"needs speech_commands_v1_mfcc_1.npz, speech_commands_v1_mfcc_2.npz"
    ):
        obtain.add(dataset("speech"), [part])
    assert nothing_but(folder)


def test_a_download(folder, walker_zip, server):
    server.files["/walker.zip"] = walker_zip.read_bytes()
    told = []
    obtain.get(
        dataset("walker2d"), url=f"{server.url}/walker.zip", progress=lambda done, total: told.append((done, total))
    )
    assert told[-1] == (len(server.files["/walker.zip"]),) * 2
    assert len(tasks.make("walker2d").test) > 0
    assert nothing_but(folder, "walker2d", "checksums.json")


def test_a_wrong_checksum_leaves_nothing(folder, walker_zip, server):
    server.files["/walker.zip"] = walker_zip.read_bytes()
    with pytest.raises(errors.ArgumentError, match=r"SHA-256 is .* but its checksum is 00ff; nothing was kept"):
        obtain.get(dataset("walker2d"), url=f"{server.url}/walker.zip", sha256="00ff")
    assert nothing_but(folder)


def test_the_published_checksum_holds_for_the_usual_address_alone(folder, walker_zip, server):
    server.files["/walker.zip"] = walker_zip.read_bytes()
    data = dataclasses.replace(dataset("walker2d"), url=f"{server.url}/walker.zip", sha256="11")
    with pytest.raises(errors.ArgumentError, match="but its checksum is 11"):
        obtain.get(data)
    obtain.get(data, url=f"{server.url}/walker.zip")
    assert nothing_but(folder, "walker2d", "checksums.json")


def test_the_checksum_of_the_first_download_is_remembered(folder, walker_zip, server, tmp_path):
    url = f"{server.url}/walker.zip"
    server.files["/walker.zip"] = b"<html>not found, but politely</html>"
    with pytest.raises(errors.ArgumentError, match="no rollouts"):
        obtain.get(dataset("walker2d"), url=url)
    assert nothing_but(folder)  # what proved to be no data set is not remembered either
    server.files["/walker.zip"] = walker_zip.read_bytes()
    obtain.get(dataset("walker2d"), url=url)
    other = small_data.write_rollouts(tmp_path / "o" / "walker", small_data.rollouts(seed=1))
    server.files["/walker.zip"] = small_data.zip_folder(other, tmp_path / "o.zip").read_bytes()
    with pytest.raises(errors.ArgumentError, match=r"remembered in .*checksums.json"):
        obtain.get(dataset("walker2d"), url=url, replace=True)
    obtain.get(
        dataset("walker2d"), url=url, replace=True, sha256=hashlib.sha256(server.files["/walker.zip"]).hexdigest()
    )


def test_a_download_that_breaks_off_or_is_not_there(folder, walker_zip, server):
    server.files["/walker.zip"] = walker_zip.read_bytes()
    server.sent = 1000
    with pytest.raises(errors.ArgumentError, match="broke off after 1000 of"):
        obtain.get(dataset("walker2d"), url=f"{server.url}/walker.zip")
    with pytest.raises(errors.ArgumentError, match=r"cannot be fetched \(Not Found\)"):
        obtain.get(dataset("walker2d"), url=f"{server.url}/other.zip")
    with pytest.raises(errors.ArgumentError, match="must begin with https"):
        obtain.get(dataset("walker2d"), url="file:///etc/passwd")
    assert nothing_but(folder)


def test_a_cache_that_cannot_be_written(walker_zip, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GNODE_DATA", str(tmp_path / "file"))
    with pytest.raises(errors.StoreError, match=r"cannot write to .*; set GNODE_DATA"):
        obtain.add(dataset("walker2d"), [walker_zip])


def test_a_read_only_folder_is_read_and_never_written(walker_zip, tmp_path, monkeypatch):
    monkeypatch.setenv("GNODE_DATA", str(tmp_path / "made"))
    obtain.add(dataset("walker2d"), [walker_zip])
    shared = tmp_path / "shared"
    shared.mkdir()
    (tmp_path / "made" / "walker2d" / "walker2d_rollouts.npz").rename(shared / "walker2d_rollouts.npz")
    shared.chmod(0o555)
    monkeypatch.setenv("GNODE_DATA", str(shared))
    try:
        assert len(tasks.make("walker2d").train) > 0
        with pytest.raises(errors.ArgumentError, match="already in"):
            obtain.add(dataset("walker2d"), [walker_zip])
        with pytest.raises(errors.StoreError, match="read-only"):
            obtain.add(dataset("walker2d"), [walker_zip], replace=True)
        with pytest.raises(errors.StoreError, match="read-only"):
            obtain.get(dataset("characters"), url="http://127.0.0.1:9/nothing")
        assert [path.name for path in shared.iterdir()] == ["walker2d_rollouts.npz"]
    finally:
        shared.chmod(0o755)


def test_names_of_data_sets():
    assert dataset("speech").name == "speech-v1"
    with pytest.raises(errors.ArgumentError, match="Did you mean 'walker2d'"):
        dataset("walker")
    with pytest.raises(errors.ArgumentError, match="has no versions"):
        dataset("walker2d", 2)
