"""Small data sets in the formats of the originals, made from known numbers."""

import io
import tarfile
import wave
import zipfile

import numpy as np
import scipy.io

LETTERS = "abcdeghlmnopqrsuvwyz"
WORDS = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")


def letters(per_letter=8, seed=0):
    """Trials (time x 3, zeros around them) and their classes, in the order of the classes."""
    rng = np.random.default_rng(seed)
    trials, labels = [], []
    for label in range(len(LETTERS)):
        for _ in range(per_letter):
            moving = np.cumsum(rng.normal(size=(int(rng.integers(20, 31)), 3)), axis=0) + 0.01
            trials.append(np.concatenate([np.zeros((2, 3)), moving, np.zeros((3, 3))]).astype(np.float32))
            labels.append(label)
    return trials, np.array(labels)


def write_uci_mat(path, trials, labels):
    cell = np.empty((1, len(trials)), object)
    for index, trial in enumerate(trials):
        cell[0, index] = trial.T.astype(np.float64)
    key = np.empty((1, len(LETTERS)), object)
    key[0, :] = list(LETTERS)
    consts = {"key": key, "charlabels": np.asarray(labels)[None] + 1, "dt": 0.005}
    scipy.io.savemat(path, {"mixout": cell, "consts": consts})
    return path


def write_uea_ts(path, trials, labels):
    lines = ["# made by a test", "@problemName CharacterTrajectories", "@timeStamps false", "@univariate false"]
    lines += [f"@dimensions {trials[0].shape[1]}", "@equalLength false"]
    lines += ["@classLabel true " + " ".join(str(number) for number in range(1, 21)), "@data"]
    for trial, label in zip(trials, labels):
        lines.append(
            ":".join([*(",".join(repr(float(value)) for value in column) for column in trial.T), str(label + 1)])
        )
    path.write_text("\n".join(lines) + "\n")
    return path


def rollouts(count=20, samples=140, channels=17, seed=0):
    rng = np.random.default_rng(seed)
    return [np.cumsum(rng.normal(size=(samples, channels)), axis=0).astype(np.float32) for _ in range(count)]


def write_rollouts(folder, values):
    folder.mkdir(parents=True, exist_ok=True)
    for index, rollout in enumerate(values):
        np.save(folder / f"rollout_{index:03d}.npy", rollout)
    return folder


def zip_folder(folder, path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder.parent).as_posix())
    return path


def tar_folder(folder, path):
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, arcname=".")
    return path


def tone(word, clip, samples=16_000):
    """A clip that differs by word and by number, as whole numbers."""
    rng = np.random.default_rng([WORDS.index(word), clip])
    time = np.arange(samples) / 16_000
    sound = 0.3 * np.sin(2 * np.pi * (200 + 150 * WORDS.index(word)) * time) + 0.05 * rng.normal(size=samples)
    return (sound * 2**15).astype("<i2")


def wav_bytes(sound, rate=16_000, channels=1):
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.asarray(sound, "<i2").tobytes())
    return buffer.getvalue()


def write_speech(folder, clips=7):
    """A folder per word, one clip in each that is too short, another word and noise that do not count, and the lists."""
    for word in (*WORDS, "cat"):
        (folder / word).mkdir(parents=True, exist_ok=True)
        for clip in range(clips):
            sound = tone(word if word in WORDS else "yes", clip)
            (folder / word / f"{clip:04d}_nohash_0.wav").write_bytes(wav_bytes(sound))
        (folder / word / "short_nohash_0.wav").write_bytes(wav_bytes(tone("yes", 0, samples=12_000)))
    (folder / "validation_list.txt").write_text("yes/0000_nohash_0.wav\n")
    (folder / "testing_list.txt").write_text("no/0001_nohash_0.wav\ngo/0002_nohash_0.wav\n")
    return folder
