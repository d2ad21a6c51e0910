"""Mel-frequency cepstral coefficients (MFCC), the inputs of the speech task.

A clip x is padded by reflection and cut into frames of `window` samples, one every `hop` samples. With a Hann window w,

    P[k, t] = |sum_n w[n] x[t hop + n] exp(-2 pi i k n / window)|^2,    M[m, t] = sum_k B[k, m] P[k, t],
    c[j, t] = sum_m D[j, m] log(M[m, t] + 1e-6),

where B holds triangular filters that are equally wide on the mel scale m = 2595 log10(1 + f / 700), and D is the orthonormal
discrete cosine transform, of which the first `coefficients` rows are kept.
"""

from functools import cache

import numpy as np
import scipy.fft
from jaxtyping import Float

from gnode import errors

RATE = 16_000
"""Sampling rate in Hz."""
WINDOW, HOP, BANDS, COEFFICIENTS = 200, 100, 64, 20
FLOOR = 1e-6
"""Constant that is added to the power in a band before the logarithm."""


def mfcc(
    clips: Float[np.ndarray, "clips samples"],
    *,
    rate: int = RATE,
    window: int = WINDOW,
    hop: int = HOP,
    bands: int = BANDS,
    coefficients: int = COEFFICIENTS,
) -> Float[np.ndarray, "clips frames coefficients"]:
    """Computes mel-frequency cepstral coefficients.

    **Arguments:**

    - `clips`: array of shape (clips, samples) with values between -1 and 1.
    - `rate`: sampling rate in Hz.
    - `window`, `hop`: samples of a frame, and between the beginnings of two frames.
    - `bands`: number of mel filters.
    - `coefficients`: number of coefficients that are kept.

    **Returns:** a float32 array of shape (clips, 1 + samples // hop, coefficients).

    >>> mfcc(np.zeros((2, 16_000), np.float32)).shape
    (2, 161, 20)
    """
    clips = np.asarray(clips, np.float32)
    half = window // 2
    if clips.ndim != 2 or clips.shape[1] <= half:
        raise errors.ArgumentError(
            f"clips has shape {clips.shape}, but must be (clips, samples) with more than {half} samples."
        )
    around = np.pad(clips, ((0, 0), (half, half)), mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(around, window, axis=1)[:, ::hop]
    spectrum = np.asarray(scipy.fft.rfft(frames * _hann(window), axis=2))
    power = np.real(spectrum) ** 2 + np.imag(spectrum) ** 2
    loudness = np.log(power @ mel_bands(rate, window, bands) + np.float32(FLOOR))
    return np.asarray(scipy.fft.dct(loudness, type=2, norm="ortho", axis=2))[:, :, :coefficients]


@cache
def _hann(window: int) -> Float[np.ndarray, " window"]:
    """Returns the periodic Hann window."""
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window)).astype(np.float32)


@cache
def mel_bands(rate: int, window: int, bands: int) -> Float[np.ndarray, "frequencies bands"]:
    """Returns triangular mel filters; each one extends from the peak of its left neighbour to that of its right neighbour.

    The corners are `bands` + 2 points that are equally spaced on the mel scale from 0 to `rate` / 2. A filter that is
    narrower than the spacing of the frequencies may contain none of them; its output is then 0.

    >>> mel_bands(16_000, 200, 64).shape
    (101, 64)
    """
    frequencies = np.linspace(0, rate / 2, window // 2 + 1)
    corners = _hertz(np.linspace(_mel(0.0), _mel(rate / 2), bands + 2))
    rising = (frequencies[:, None] - corners[:-2]) / np.diff(corners)[:-1]
    falling = (corners[2:] - frequencies[:, None]) / np.diff(corners)[1:]
    return np.maximum(0.0, np.minimum(rising, falling)).astype(np.float32)


def _mel(hertz: float) -> float:
    return 2595.0 * np.log10(1.0 + hertz / 700.0)


def _hertz(mel: np.ndarray) -> np.ndarray:
    return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)
