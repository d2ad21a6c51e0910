"""Readers of the originals' formats, on files made by the tests."""

import io
import pickle
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
import small_data

from gnode.errors import ArgumentError
from gnode.tasks._formats.archives import entries
from gnode.tasks._formats.audio import read_wav
from gnode.tasks._formats.npz import read_npz
from gnode.tasks._formats.rollouts import read_rollouts
from gnode.tasks._formats.uci_mat import read_uci
from gnode.tasks._formats.uea_ts import read_ts
from gnode.tasks._mfcc import mfcc
from gnode.tasks.datasets.originals import DATASETS, dataset


def everything(path):
    return dict(entries(path, lambda name: True))


@pytest.fixture
def letters():
    return small_data.letters(per_letter=2)


def assert_letters(arrays, trials, labels):
    np.testing.assert_array_equal(arrays["lengths"], [len(trial) for trial in trials])
    np.testing.assert_allclose(arrays["values"], np.concatenate(trials), rtol=1e-6)
    np.testing.assert_array_equal(arrays["labels"], labels)
    assert "".join(arrays["label_names"]) == small_data.LETTERS


def test_uci_and_uea_files_give_the_same_letters(tmp_path, letters):
    trials, labels = letters
    mat = small_data.write_uci_mat(tmp_path / "mixoutALL_shifted.mat", trials, labels)
    first = small_data.write_uea_ts(tmp_path / "C_TRAIN.ts", trials[:20], labels[:20])
    second = small_data.write_uea_ts(tmp_path / "C_TEST.ts", trials[20:], labels[20:])
    for paths in ([mat], [first, second]):
        (arrays,) = dataset("characters").compact(paths).values()
        assert_letters(arrays, trials, labels)


def test_a_zip_of_the_uci_file(tmp_path, letters):
    folder = tmp_path / "uci"
    folder.mkdir()
    small_data.write_uci_mat(folder / "mixoutALL_shifted.mat", *letters)
    (arrays,) = dataset("characters").compact([small_data.zip_folder(folder, tmp_path / "c.zip")]).values()
    assert_letters(arrays, *letters)


def test_ts_with_missing_values():
    series = read_ts("@classLabel true a b\n@data\n1,?,3:4,5,6:b\n")
    np.testing.assert_array_equal(series.values, [[1, 4], [np.nan, 5], [3, 6]])
    assert (series.labels.tolist(), series.label_names) == ([1], ("a", "b"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1,2:3,4:a", "before any @data"),
        ("@data\n1,2:a", "names no classes"),
        ("@classLabel true a\n@data\n1,x:a", "text in line 3, channel 0"),
        ("@classLabel true a\n@data\n1,2:b", "class 'b' in line 3"),
        ("@classLabel true a\n@data\n1,2:1:a", r"lengths \[2, 1\] in line 3"),
        ("@classLabel true a\n@data\n", "holds no trials"),
        ("@timeStamps true\n@classLabel true a\n@data\n(0,1):a", "time stamps"),
    ],
)
def test_bad_ts_files(text, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        read_ts(text)


def test_bad_mat_files(tmp_path, letters):
    whole = small_data.write_uci_mat(tmp_path / "m.mat", *letters).read_bytes()
    with pytest.raises(ArgumentError, match="cannot be read as a MATLAB file"):
        read_uci(whole[: len(whole) // 2])
    trials, labels = letters
    wrong = small_data.write_uci_mat(tmp_path / "m.mat", trials, labels[:-1]).read_bytes()
    with pytest.raises(ArgumentError, match="holds 40 trials but 39 labels"):
        read_uci(wrong)


@pytest.mark.parametrize("how", ["folder", "zip", "tar"])
def test_rollouts_come_in_the_order_of_their_names(tmp_path, how):
    values = small_data.rollouts(count=12, samples=9)
    folder = small_data.write_rollouts(tmp_path / "walker", values)
    path = {
        "folder": lambda: folder,
        "zip": lambda: small_data.zip_folder(folder, tmp_path / "walker.zip"),
        "tar": lambda: small_data.tar_folder(folder, tmp_path / "walker.tar.gz"),
    }[how]()
    series = read_rollouts([path])
    np.testing.assert_array_equal(series.values, np.concatenate(values))
    np.testing.assert_array_equal(series.lengths, [9] * 12)


def test_rollouts_are_never_unpickled(tmp_path):
    np.save(tmp_path / "rollout_000.npy", np.array([{"a": 1}], object), allow_pickle=True)
    with pytest.raises(ArgumentError, match=r"rollout_000.npy .* cannot be read"):
        read_rollouts([tmp_path])


def test_npz_files_are_never_unpickled(tmp_path):
    np.savez(tmp_path / "a.npz", values=np.array([{"a": 1}], object))
    with pytest.raises(ArgumentError, match="cannot be read"):
        read_npz(tmp_path / "a.npz", ("values",))
    (tmp_path / "b.npz").write_bytes(pickle.dumps({"values": 1}))
    with pytest.raises(ArgumentError, match="cannot be read"):
        read_npz(tmp_path / "b.npz", ("values",))


@pytest.mark.parametrize("how", ["folder", "tar"])
def test_speech_from_wav_files(tmp_path, how):
    folder = small_data.write_speech(tmp_path / "speech", clips=7)
    path = folder if how == "folder" else small_data.tar_folder(folder, tmp_path / "speech_commands_v0.01.tar.gz")
    made = DATASETS["speech-v1"].compact([path])
    assert list(made) == [f"speech_commands_v1_mfcc_{part}.npz" for part in range(3)]
    sizes = [len(arrays["labels"]) for arrays in made.values()]
    assert (sum(sizes), max(sizes) - min(sizes)) == (70, 1)
    names = np.concatenate([arrays["names"] for arrays in made.values()])
    labels = np.concatenate([arrays["labels"] for arrays in made.values()])
    split = dict(zip(names, np.concatenate([arrays["official_split"] for arrays in made.values()])))
    assert len(set(names)) == 70
    assert {name for name in names if split[name] == 1} == {"yes/0000_nohash_0.wav"}
    assert {name for name in names if split[name] == 2} == {"no/0001_nohash_0.wav", "go/0002_nohash_0.wav"}
    features = dict(zip(names, np.concatenate([arrays["mfcc"] for arrays in made.values()])))
    for name, label in zip(names, labels):
        assert name.split("/")[0] == small_data.WORDS[label]
    wanted = mfcc(small_data.tone("stop", 3)[None] / np.float32(2**15))[0]
    np.testing.assert_array_equal(features["stop/0003_nohash_0.wav"], wanted.astype(np.float16))


def test_the_parts_do_not_depend_on_the_order_of_an_archive(tmp_path):
    folder = small_data.write_speech(tmp_path / "speech", clips=2)
    backwards = tmp_path / "b.tar.gz"
    with tarfile.open(backwards, "w:gz") as archive:
        for file in sorted(folder.rglob("*.*"), reverse=True):
            archive.add(file, arcname=file.relative_to(folder).as_posix())
    made = [DATASETS["speech-v2"].compact([path]) for path in (folder, backwards)]
    for file in made[0]:
        for name in ("names", "labels", "mfcc", "official_split"):
            np.testing.assert_array_equal(made[0][file][name], made[1][file][name])


def test_bad_wav_files():
    sound = small_data.tone("go", 0)
    np.testing.assert_array_equal(read_wav(small_data.wav_bytes(sound), "a.wav", 16_000), sound)
    with pytest.raises(ArgumentError, match="16 bits at 8000 Hz"):
        read_wav(small_data.wav_bytes(sound, rate=8000), "a.wav", 16_000)
    with pytest.raises(ArgumentError, match="2 channels"):
        read_wav(small_data.wav_bytes(sound, channels=2), "a.wav", 16_000)
    with pytest.raises(ArgumentError, match="cannot be read as WAV"):
        read_wav(b"RIFF....", "a.wav", 16_000)


def tar_with(path, member, content=b"x"):
    with tarfile.open(path, "w:gz") as archive:
        member.size = len(content) if member.isfile() else 0
        archive.addfile(member, io.BytesIO(content) if member.isfile() else None)
    return path


@pytest.mark.parametrize("name", ["../out.npy", "/tmp/out.npy", "a/../../out.npy", "..\\out.npy", "C:/out.npy"])
def test_an_entry_that_points_outside_is_refused(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("good.npy", b"x")
        archive.writestr(zipfile.ZipInfo(name), b"x")
    tar_with(tmp_path / "a.tar.gz", tarfile.TarInfo(name))
    for path in (tmp_path / "a.zip", tmp_path / "a.tar.gz"):
        with pytest.raises(ArgumentError, match="points outside"):
            everything(path)
    assert {file.name for file in tmp_path.iterdir()} == {"a.zip", "a.tar.gz"}


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_refused(tmp_path, kind):
    member = tarfile.TarInfo("link.npy")
    member.type, member.linkname = kind, "/etc/passwd"
    with pytest.raises(ArgumentError, match="link or a device"):
        everything(tar_with(tmp_path / "a.tar.gz", member))
    if kind == tarfile.SYMTYPE:
        linked = zipfile.ZipInfo("link.npy")
        linked.external_attr = 0o120777 << 16
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            archive.writestr(linked, "/etc/passwd")
        with pytest.raises(ArgumentError, match="link or a device"):
            everything(tmp_path / "a.zip")


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
@pytest.mark.parametrize("ending", ["zip", "tar.gz"])
def test_truncated_archives_are_one_sentence(tmp_path, share, ending):
    folder = small_data.write_rollouts(tmp_path / "walker", small_data.rollouts(count=4))
    pack = small_data.zip_folder if ending == "zip" else small_data.tar_folder
    path: Path = pack(folder, tmp_path / f"walker.{ending}")
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(ArgumentError, match="broken or truncated"):
        read_rollouts([path])
    unnamed = path.rename(tmp_path / "download.tmp")  # a download has no telling name
    with pytest.raises(ArgumentError, match="broken or truncated"):
        read_rollouts([unnamed])
