"""Files that claim too much, are no files, or hold what does not belong there: one sentence, before memory is taken."""

import contextlib
import io
import os
import struct
import tarfile
import tracemalloc
import zipfile

import numpy as np
import pytest
import scipy.io
import small_data

from gnode import errors, tasks
from gnode.errors import ArgumentError
from gnode.tasks import Series, Trials, arrays
from gnode.tasks._formats import archives
from gnode.tasks._formats.audio import read_wav
from gnode.tasks._formats.mat5 import read_mat
from gnode.tasks._formats.npy import read_npy
from gnode.tasks._formats.npz import read_npz
from gnode.tasks._formats.rollouts import read_rollouts
from gnode.tasks.datasets import obtain
from gnode.tasks.datasets.originals import dataset

X, Y = np.zeros((8, 5, 2)), np.zeros((8, 5, 1))


def npy_with(header: str, data: bytes = b"") -> bytes:
    text = header.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


def of_shape(shape: str, dtype: str = "<f8") -> str:
    return f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (npy_with(of_shape("(1000000000000000,)")), "claims to be an array of shape"),
        (npy_with(of_shape("(-1,)")), "claims to be an array of shape"),
        (npy_with(of_shape(f"({'9' * 40}, {'9' * 40})")), "claims to be an array of shape"),
        (npy_with(of_shape("(4611686018427387904, 4)"), bytes(8)), "claims to be an array of shape"),
        (npy_with(of_shape("(2,)"), bytes(15)), "claims to be an array of shape"),
        (npy_with(of_shape("(2,)"), bytes(17)), "claims to be an array of shape"),
        (npy_with(of_shape("(1,)", "|O"), bytes(8)), "an array of object and not of real numbers"),
        (npy_with(of_shape("(1,)", "<U2"), bytes(8)), "an array of <U2 and not of real numbers"),
        (npy_with(of_shape("(1,)", "|V8"), bytes(8)), "not of real numbers"),
        (npy_with(of_shape("(1,)", "<m8[s]"), bytes(8)), "not of real numbers"),
        (
            npy_with("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", bytes(8)),
            "not of real numbers",
        ),
        (npy_with("(" * 90), "cannot be read as .npy"),
        (npy_with("-" * 110), "cannot be read as .npy"),
        (npy_with("__import__('os').abort()"), "cannot be read as .npy"),
        (b"\x93NUMPY\x09\x00" + bytes(200), "cannot be read as .npy"),
        (b"", "cannot be read as .npy"),
    ],
)
def test_headers_of_npy(content, sentence):
    tracemalloc.start()
    with pytest.raises(ArgumentError, match=sentence) as found:
        read_npy(io.BytesIO(content), len(content), "a.npy")
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()
    assert len(str(found.value).splitlines()) == 1


def test_arrays_are_read_as_numpy_reads_them():
    rng = np.random.default_rng(0)
    for values in (
        rng.normal(size=(3, 4)),
        np.asfortranarray(rng.normal(size=(3, 4, 2)).astype(">f4")),
        np.array(5),
        np.zeros((0, 3), bool),
        np.arange(6, dtype=np.uint8),
    ):
        file = io.BytesIO()
        np.save(file, values)
        found = read_npy(io.BytesIO(file.getvalue()), len(file.getvalue()), "a")
        np.testing.assert_array_equal(found, values)
        assert (found.dtype, found.shape) == (values.dtype, values.shape)
        found[...] = 1  # can be written to


def test_a_member_that_claims_more_than_its_bytes_can_hold(tmp_path):
    good = io.BytesIO()
    np.savez_compressed(good, inputs=X, targets=Y, dt=0.1)
    content = bytearray(good.getvalue())
    at = content.index(b"PK\x01\x02")  # the directory at the end: size of the first member
    content[at + 24 : at + 28] = struct.pack("<I", 2**31 - 1)
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(ArgumentError, match=r"claims to unpack from .* to 2147483647 bytes, which it cannot"):
        tasks.make(str(tmp_path / "a.npz"))


def test_the_limits_of_an_archive(tmp_path, monkeypatch):
    folder = small_data.write_rollouts(tmp_path / "walker", small_data.rollouts(count=4, samples=20))
    paths = [small_data.zip_folder(folder, tmp_path / "w.zip"), small_data.tar_folder(folder, tmp_path / "w.tar.gz")]
    for limit, sentence in (
        ("MAX_TOTAL_BYTES", "unpacks to .* bytes or more"),
        ("MAX_ENTRIES", "holds .* files or more"),
    ):
        with monkeypatch.context() as patches:
            patches.setattr(archives, limit, 3)
            for path in paths:
                with pytest.raises(ArgumentError, match=sentence):
                    read_rollouts([path])
    for path in paths:
        assert len(read_rollouts([path])) == 4


def test_a_bomb_is_not_unpacked(tmp_path):
    """A member of 8 GiB of zeros would compress to 8 MB: here it only claims to."""
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"rollout_{number}.npy", bytes(10**6))
    content = path.read_bytes()
    for _ in range(3):
        at = content.index(b"PK\x01\x02" + content[content.index(b"PK\x01\x02") + 4 :][:20] + struct.pack("<I", 10**6))
        content = content[: at + 24] + struct.pack("<I", 2**32 - 2) + content[at + 28 :]
    path.write_bytes(content)
    with pytest.raises(ArgumentError, match="of 4294967294 bytes, but must hold files of at most 2147483648 bytes"):
        read_rollouts([path])


@pytest.mark.parametrize("what", ["fifo", "device", "folder", "nowhere", "long", "nul"])
def test_only_plain_files_are_read(tmp_path, what):
    name = {"fifo": "pipe", "device": "/dev/zero", "folder": "folder", "long": "a" * 300, "nul": "a\0b"}.get(
        what, "nowhere"
    )
    path = tmp_path / name
    if what == "fifo":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    for suffix in (".npz", ".csv"):
        link = tmp_path / f"link{suffix}"
        if what in ("long", "nul"):
            link = tmp_path / f"{name}{suffix}"
        else:
            link.symlink_to(path)
        with pytest.raises(ArgumentError, match=r"pipe or a device|does not exist|is a folder|cannot be read"):
            tasks.make(str(link), dt=0.1)
    if what in ("fifo", "device"):
        with pytest.raises(ArgumentError, match="pipe or a device"):
            obtain.add(dataset("walker2d"), [path])
        folder = tmp_path / "rollouts"
        folder.mkdir()
        (folder / "rollout_0.npy").symlink_to(path)
        with pytest.raises(ArgumentError, match="pipe or a device"):
            read_rollouts([folder])


def wav(channels=1, rate=16_000, bits=16, samples=b"\1\0" * 100, riff=b"RIFF", chunk=None, format=1):
    head = struct.pack("<HHIIHH", format, channels, rate, rate * 2, 2, bits)
    data = b"data" + struct.pack("<I", len(samples) if chunk is None else chunk) + samples
    body = b"WAVEfmt " + struct.pack("<I", 16) + head + data
    return riff + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (wav()[:-1], "is truncated: its header tells of 100 samples, but it holds 99"),
        (wav()[:-2], "is truncated"),
        (wav()[:30], "cannot be read as WAV"),
        (wav(channels=0), "cannot be read as WAV"),
        (wav(rate=0), "at 0 Hz"),
        (wav(bits=0), "cannot be read as WAV"),
        (wav(bits=7), "channels of 8 bits"),
        (wav(bits=65535), "channels of"),
        (wav(channels=65535), "65535 channels"),
        (wav(chunk=2**32 - 1), "is truncated|cannot be read as WAV"),
        (wav(chunk=2**31), "is truncated|cannot be read as WAV"),
        (wav(riff=b"RIFX"), "cannot be read as WAV"),
        (wav(format=85), "cannot be read as WAV"),
        (b"", "cannot be read as WAV"),
    ],
)
def test_odd_wav_files(content, sentence):
    assert len(read_wav(wav(), "good.wav", 16_000)) == 100
    with pytest.raises(ArgumentError, match=sentence):
        read_wav(content, "bad.wav", 16_000)


@pytest.mark.parametrize("compressed", [False, True])
def test_matlab_files_are_read_as_scipy_reads_them(compressed):
    rng = np.random.default_rng(0)
    cell = np.empty((1, 3), object)
    cell[0, :] = [rng.normal(size=(3, 4)), "text", np.arange(5, dtype=np.int16)]
    stored = {
        "numbers": rng.normal(size=(2, 3, 4)),
        "bytes": np.arange(6, dtype=np.uint8).reshape(2, 3),
        "word": "wörter",
        "cells": cell,
        "fields": {"one": 1.5, "two": "b", "inner": {"deep": np.ones((2, 2))}},
    }
    file = io.BytesIO()
    scipy.io.savemat(file, stored | {"sparse": scipy.sparse.eye(3)}, do_compression=compressed)
    found = read_mat(file.getvalue(), (*stored, "sparse"))
    np.testing.assert_array_equal(found["numbers"], stored["numbers"])
    np.testing.assert_array_equal(found["bytes"], stored["bytes"])
    np.testing.assert_array_equal(found["cells"][0], cell[0, 0])
    np.testing.assert_array_equal(found["fields"]["inner"]["deep"], np.ones((2, 2)))
    assert (found["word"], found["cells"][1], found["fields"]["two"]) == ("wörter", "text", "b")
    assert (found["fields"]["one"].item(), found["cells"][2].ravel().tolist()) == (1.5, [0, 1, 2, 3, 4])
    assert found["sparse"] is None


def test_matlab_files_cut_anywhere(tmp_path):
    """scipy's reader ends the process on some of these."""
    whole = small_data.write_uci_mat(tmp_path / "m.mat", *small_data.letters(per_letter=1)).read_bytes()
    for end in [*range(400), *range(400, len(whole), 97)]:
        with contextlib.suppress(ArgumentError):  # cut between two variables, it is a file with fewer of them
            assert len(read_mat(whole[:end], ("mixout", "consts"))) < 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"\xff\xfet\x00r\x00", "not text in UTF-8"),
        (b"trial,label,x\n1,a,\xe9\n", "not text in UTF-8"),
        (b"trial,label,x\n1,a,\x001\n", r"'\\x001' in row 2, column 'x', which is not a number"),
        (b"trial,label,x\n1,a," + b"9" * 200_000 + b"\n", "field larger than field limit"),
        (b"trial,label,,x\n1,a,2,3\n", "column 3 has no name"),
        (b"trial,label,x,x\n1,a,2,3\n", "'x' names several"),
        (b"trial,label,x\n1,a\n", "2 cells in row 2, but 3 columns"),
        (b"\n\n", "that row is empty"),
        (b"", "that row is empty"),
        (b"trial;label;x\n", "use commas"),
        (b'trial,label,"x\ny"\n1,a,z\n', "has 'z' in row 2"),
    ],
)
def test_odd_tables(tmp_path, text, sentence):
    (tmp_path / "a.csv").write_bytes(text)
    with pytest.raises(ArgumentError, match=sentence) as found:
        tasks.make(str(tmp_path / "a.csv"), dt=0.1)
    assert len(str(found.value).splitlines()) == 1


def test_a_wide_table_is_read_in_linear_time(tmp_path):
    """Counted, not timed: looking a column up must not walk through the others."""

    class Name(str):
        compared = 0

        def __eq__(self, other):
            Name.compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    from gnode.tasks._formats.csv_table import Table

    columns = [f"c{number}" for number in range(2000)]
    lines = [",".join(["trial", *columns])] + [",".join(["1", *("2" for _ in columns)])] * 2
    (tmp_path / "wide.csv").write_text("\n".join(lines))
    table = Table(tmp_path / "wide.csv")
    found = table.numbers([Name(column) for column in columns])
    assert found.shape == (2, 2000)
    assert Name.compared < 5 * len(columns)
    with pytest.raises(ArgumentError, match="and 1981 more") as problem:
        table.column("d")
    assert len(str(problem.value)) < 600


def test_a_table_that_would_be_padded_beyond_memory(tmp_path, monkeypatch):
    rows = ["trial,label,x"] + [f"{number},a,1" for number in range(200)] + ["200,a,1"] * 200
    (tmp_path / "a.csv").write_text("\n".join(rows))
    monkeypatch.setattr(errors, "_memory", lambda: 1e5)
    with pytest.raises(ArgumentError, match=r"shape of the padded trials is \(201, 200, 1\), which needs"):
        tasks.make(str(tmp_path / "a.csv"), dt=1.0)


@pytest.mark.parametrize("label", [2**62, 2**31, 8, -1])
def test_labels_that_cannot_be(label, tmp_path):
    labels = np.array([0, 1, 1, 0, 1, 0, 1, label])
    with pytest.raises(
        ArgumentError, match=f"a label is {label}, but the labels of 8 trials must be whole numbers from 0 to 7"
    ):
        arrays(X, labels, 0.1)
    with pytest.raises(ArgumentError, match=f"a label is {label}"):
        Series.of(list(X), labels=labels)
    np.savez(tmp_path / "a.npz", inputs=X, targets=labels, dt=0.1)
    with pytest.raises(ArgumentError, match=f"a label is {label}"):
        tasks.make(str(tmp_path / "a.npz"))
    with pytest.raises(ArgumentError, match=f"a label is {label}, but classes must be from 0 to 4"):
        arrays(X, labels, 0.1, outputs=5)
    with pytest.raises(ArgumentError, match=r"outputs is .*, but must be a whole number of at most 1048576"):
        arrays(X, labels, 0.1, outputs=2**62)
    assert arrays(X, np.abs(labels) % 3, 0.1, outputs=9).outputs == 9


@pytest.mark.parametrize("kind", ["U3", "S3", "V4", "O", "M8[s]", "m8[s]", "c8", [("a", "f4")]])
@pytest.mark.parametrize("name", ["inputs", "targets", "times", "dt", "mask", "lengths"])
def test_arrays_of_other_kinds(kind, name, tmp_path):
    given = {"inputs": X, "targets": Y, "dt": 0.1, "mask": np.ones((8, 5)), "lengths": np.full(8, 5)}
    given[name] = np.zeros(np.shape(given.get(name, np.zeros((8, 5)))), kind)
    with pytest.raises(ArgumentError, match=f"{name} must hold real numbers"):
        arrays(**given)
    np.savez(tmp_path / "a.npz", **given)
    with pytest.raises(
        ArgumentError, match=f"{name} cannot be read, because it is an array of .* and not of real numbers"
    ):
        read_npz(tmp_path / "a.npz", ("inputs", "targets"), ("times", "dt", "mask", "lengths"))


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        (lambda: tasks.make(3), "name is 3, but must be"),
        (lambda: tasks.make("flipflop-ring", trails=3), "an option of task flipflop-ring is 'trails'"),
        (lambda: arrays("abc", Y, 0.1), "inputs must hold real numbers"),
        (lambda: arrays([[1], [1, 2]], Y, 0.1), "inputs is .*rows must be of equal length"),
        (lambda: arrays(X, Y, 0.1, standardise="no"), "standardise is 'no', but must be True or False"),
        (lambda: arrays(X, Y, 0.1, fill=3), "fill is 3"),
        (lambda: arrays(X, Y, 0.1, classes="ab"), "classes is 'ab'"),
        (lambda: arrays(X, Y, 0.1, validation="0.1"), "validation is '0.1'"),
        (lambda: arrays(X + 1e39, Y, 0.1), "inputs holds 1e.39, too large for float32, at trial 0"),
        (lambda: arrays(X, Y + 1e39, 0.1), "targets holds 1e.39, too large for float32"),
        (lambda: arrays(X, Y + np.inf, 0.1), "targets holds inf"),
        (lambda: arrays(X, Y, 1e39), "dt is 1e.39"),
        (lambda: arrays(X, Y, 1e-50), "dt is 1e-50"),
        (lambda: arrays(X, Y, 0.1, mask=np.full((8, 5), 1e39)), "mask must hold 1"),
        (lambda: arrays(X, Y, 1e-9, times=np.tile(np.arange(5.0) * 1e300, (8, 1))), "which is too many"),
        (lambda: Trials(X, Y, 0.1, masks=1), "Trials has no argument 'masks'. Did you mean 'mask'"),
        (lambda: Trials([[1], [1, 2]], Y, 0.1), "rows must be of equal length"),
        (lambda: tasks.Task("a", X, X, 1), "train is an array"),
        (lambda: tasks.characters(counts="no"), "counts is 'no', but must be True or False"),
        (lambda: tasks.fill("abc", "hold"), "values is 'abc'"),
        (lambda: tasks.fill(X + np.inf, "natural"), "values holds an infinite value"),
        (lambda: tasks.fill(X * np.nan, "linear", np.zeros((2, 2))), "times is"),
        (lambda: tasks.last_value_error(3), "trials is 3"),
        (lambda: tasks.last_value_error(Trials(X, Y, 0.1, np.zeros((8, 5)))), "has a bin that counts"),
        (lambda: tasks.new_trials(tasks.make("flipflop-ring", trials=1, validation=1), "5"), "count is '5'"),
        (lambda: tasks.flip_flop("ring", mean_pulses=1e20), "mean_pulses is 1e.20, but must be at most"),
        (lambda: tasks.flip_flop("ring", span=(1, 1e30), trials=1, validation=1), "span is .*to the power of 2"),
        (lambda: tasks.flip_flop(trials=2**31 - 1, bins=2**31 - 1), "GiB of memory"),
        (lambda: tasks.flip_flop(key=[1, 2, 3]), "key is"),
        (lambda: tasks.make("flipflop-ring", key=[1, -2]), "key is"),
        (lambda: tasks.ou(sigma_ou=1e200), "is not finite; choose less extreme numbers"),
        (lambda: tasks.ou(tau_ou=1e-200, lambda_ou=-1e-200), "is not finite; choose less extreme numbers"),
        (lambda: tasks.ou(bins=2**31 - 1, channels=2**31 - 1), "GiB of memory"),
        (lambda: tasks.ou(start="abc"), "start is 'abc'|start must hold"),
        (lambda: Series.of("abc"), "trials"),
        (lambda: Series.of([X[0]], times=3), "times is 3"),
        (lambda: Series.of([X[0]], times=[[["a"]] * 5]), "times must hold real numbers"),
        (lambda: Series(X[0], [2**62, 2**62, 2**62, 2**62, 5]), "lengths add up to 18446744073709551621"),
        (lambda: Series(X[0], [5]).trial(7), "index is 7, but must be from 0 to 0"),
        (lambda: Series(X[0], [5]).on_grid("x"), "step is 'x'"),
        (lambda: tasks.walker2d(key=2**32 - 1), "key is"),
    ],
)
def test_wrong_calls(action, sentence):
    with pytest.raises(ArgumentError, match=sentence) as found:
        action()
    assert len(str(found.value).splitlines()) == 1


def test_a_tar_with_a_header_that_lies(tmp_path):
    member = tarfile.TarInfo("rollout_0.npy")
    member.size = 2**40
    (tmp_path / "a.tar").write_bytes(member.tobuf() + bytes(1024))
    with pytest.raises(ArgumentError, match=r"unpacks to 1099511627776 bytes or more"):
        read_rollouts([tmp_path / "a.tar"])
