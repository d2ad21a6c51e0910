"""Which trials train, validate and test: chosen at random, or told by the data."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gnode import errors
from gnode.tasks._preparation import stratified_split
from gnode.types import Key, numpy_generator

PARTS = ("train", "validation", "test")
"""The parts of a task, as a split names them."""

VALIDATION_SHARE = 0.15
"""Share of the trials that are held out for validation if nothing else is said."""


class HeldOut(NamedTuple):
    """What decides which trials are held out.

    - `split`: for each trial its part, or the name of its group (a speaker, a session, an animal).
    - `validate_on`, `test_on`: groups that are held out; the others are trained on.
    - `validation`, `test`: shares of trials that are held out at random, where there is no `split`.
    """

    split: Any = None
    validate_on: Any = None
    test_on: Any = None
    validation: float | None = None
    test: float | None = None

    def parts(self, labels: np.ndarray | None, count: int, key: Key | int) -> list[np.ndarray]:
        """Returns the indices of the training, validation and test trials.

        **Arguments:** `labels`, the class of each trial, if a random choice is to be stratified; `count`, the number of
        trials; `key`, of the random choice.

        **Raises:** `ArgumentError` if a trial belongs to no part, or none to a part that is needed.
        """
        if self.split is None:
            for name, value in (("validate_on", self.validate_on), ("test_on", self.test_on)):
                if value is not None:
                    raise errors.ArgumentError(
                        f"{name} is {errors.shown(value)}, but nothing says which trials these are; pass the group of each "
                        f"trial (split), or name its column (split_column)."
                    )
            return self._at_random(labels, count, key)
        for name, value in (("validation", self.validation), ("test", self.test)):
            if value is not None:
                raise errors.ArgumentError(
                    f"{name} is {errors.shown(value)}, a share of the trials, but a split says where each belongs; use one "
                    f"of the two."
                )
        part_of = self._told(_texts(self.split, count))
        for number, part in enumerate(PARTS[:2]):
            if not np.any(part_of == number):
                raise errors.ArgumentError(
                    f"split has no trial for {part}, but {PARTS[0]} and {PARTS[1]} need at least one."
                )
        return [np.flatnonzero(part_of == number) for number in range(len(PARTS))]

    def _told(self, texts: list[str]) -> np.ndarray:
        """Returns the number of the part of each trial."""
        if self.validate_on is None and self.test_on is None:
            for trial, text in enumerate(texts):
                if text not in PARTS:
                    guess = errors.nearest(text, PARTS)
                    hint = f" Did you mean {guess!r}?" if guess else ""
                    raise errors.ArgumentError(
                        f"split of trial {trial} is {errors.shown(text)}, but must be train, validation or test; "
                        f"for names of groups say which are held out (validate_on, test_on).{hint}"
                    )
            return np.array([PARTS.index(text) for text in texts])
        if self.validate_on is None:
            raise errors.ArgumentError(
                f"validate_on is missing: test_on is {errors.shown(self.test_on)}, but which groups validate?"
            )
        held_out: dict[str, int] = {}
        for number, name, given in ((1, "validate_on", self.validate_on), (2, "test_on", self.test_on)):
            for group in _groups(name, given, set(texts)):
                if held_out.setdefault(group, number) != number:
                    raise errors.ArgumentError(
                        f"{name} is {errors.shown(given)}, but {errors.shown(group)} is in validate_on too; a trial belongs "
                        f"to one part."
                    )
        return np.array([held_out.get(text, 0) for text in texts])

    def _at_random(self, labels: np.ndarray | None, count: int, key: Key | int) -> list[np.ndarray]:
        validation = VALIDATION_SHARE if self.validation is None else self.validation
        test = 0.0 if self.test is None else self.test
        shares = (("validation", validation), ("test", test))
        held_out = [round(errors.not_negative(name, share) * count) for name, share in shares]
        if held_out[0] < 1 or sum(held_out) >= count:
            raise errors.ArgumentError(
                f"{count} trials with validation={validation} and test={test} leave {count - sum(held_out)} to train on and "
                f"{held_out[0]} to validate on; both need at least one."
            )
        if labels is not None and labels.shape == (count,):
            parts = [1 - sum(held_out) / count, held_out[0] / count, held_out[1] / count]
            return stratified_split(labels, parts, key)
        chosen = np.split(numpy_generator(key).permutation(count), np.cumsum(held_out))
        return [np.sort(part) for part in (chosen[2], chosen[0], chosen[1])]


def _texts(split: Any, count: int) -> list[str]:
    """Returns the part or group of each trial as a text."""
    try:
        found = np.asarray(split)
    except (ValueError, TypeError) as problem:  # rows of different lengths, or an object that is no array
        raise errors.ArgumentError(f"split is {errors.shown(split)}, but must hold one name per trial.") from problem
    if found.shape != (count,):
        raise errors.ArgumentError(f"split has shape {found.shape}, but must be ({count},), one name per trial.")
    texts = [_text(value) for value in found.tolist()]
    for trial, text in enumerate(texts):
        if not text:
            raise errors.ArgumentError(
                f"split of trial {trial} is {errors.shown(found.tolist()[trial])}, but every trial belongs to a part; write "
                f"its name."
            )
    return [str(text) for text in texts]


def _text(value: Any) -> str | None:
    """Returns a name or number as a text, 7.0 as 7; None for anything else."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    return f"{value:.15g}"


def _groups(name: str, given: Any, known: set[str]) -> list[str]:
    """Returns the names of groups that are held out: one, or several."""
    if given is None:
        return []
    try:
        found = np.atleast_1d(np.asarray(given))
    except (ValueError, TypeError):  # rows of different lengths, or no array
        found = np.zeros((0, 0))
    texts = [_text(value) for value in found.tolist()] if found.ndim == 1 and not isinstance(given, Mapping) else []
    if not texts or None in texts:
        raise errors.ArgumentError(f"{name} is {errors.shown(given)}, but must be names of groups, such as 's07'.")
    return [errors.one_of(name, text, sorted(known)) for text in texts]
