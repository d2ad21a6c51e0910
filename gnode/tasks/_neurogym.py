"""The tasks of neurogym (the extra `gnode[neurogym]`) as trials: what an animal sees, and what it should do at every bin."""

import inspect
import itertools
import warnings
from pkgutil import resolve_name
from typing import Any, NamedTuple

import numpy as np

from gnode import errors
from gnode.arguments import checked
from gnode.tasks._trials import Task, Trials
from gnode.types import Key, numpy_generator, plain_key

PREFIX = "neurogym:"
"""What the names of these tasks begin with, as commands use them."""

OWN_OPTIONS = ("trials", "validation", "test", "bins", "key")
"""Options that are not of the environment."""


@checked
def neurogym(
    name: str,
    *,
    trials: int = 1000,
    validation: int = 200,
    test: int = 0,
    bins: int | None = None,
    dt: float | None = None,
    key: Key | int = 0,
    **options: Any,
) -> Task:
    """Makes a task of neurogym, such as "PerceptualDecisionMaking-v0".

    Inputs are the observations. Where actions are discrete, the target is the right action, a class at every bin; where they
    are numbers, the targets are these numbers. As in neurogym's own supervised training, all bins of a trial count in the
    loss.

    **Arguments:**

    - `name`: name of the environment, one that has observations and right actions for whole trials.
    - `trials`, `validation`, `test`: numbers of trials.
    - `bins`: number of bins; several trials then follow each other, and the last one is cut (neurogym's `Dataset` with
      `seq_len`). By default every trial is alone, and padded to the longest one.
    - `dt`: length of a bin in seconds (neurogym counts in milliseconds); by default the environment's own.
    - `key`: seed or key of the trials.
    - `options`: arguments of the environment, such as `sigma` or `timing`.

    **Returns:** a `Task` with names of inputs and classes.

    **Raises:** `ArgumentError` if neurogym is not installed, or for an unknown name or option.

    No example: it needs neurogym.
    """
    name = name.removeprefix(PREFIX)
    counts = {"trials": errors.whole("trials", trials), "validation": errors.whole("validation", validation)}
    counts["test"] = errors.whole("test", test, at_least=0)
    bins = None if bins is None else errors.whole("bins", bins)
    given = dict(options) if dt is None else {**options, "dt": _milliseconds(errors.positive("dt", dt))}
    environment = _environment(name, given)
    seeds = numpy_generator(key).integers(2**31, size=len(counts)).tolist()
    parts = [
        _draw(environment, name, count, bins, seed) if count else None for count, seed in zip(counts.values(), seeds)
    ]
    own = {**counts, "bins": bins, "dt": dt, "key": plain_key(key)}
    return _task(PREFIX + name, environment, parts, own | options)


def _task(name: str, environment: Any, parts: list[Trials | None], options: dict[str, Any]) -> Task:
    train, validation, test = parts
    assert train is not None
    assert validation is not None
    is_class = np.issubdtype(train.targets.dtype, np.integer)
    outputs = int(environment.action_space.n) if is_class else train.targets.shape[2]
    named = _names(environment.action_space, outputs, "action")
    return Task(
        name=name,
        train=train,
        validation=validation,
        test=test,
        outputs=outputs,
        loss="cross_entropy" if is_class else "mse",
        options=options,
        classes=named if is_class else None,
        input_names=_names(environment.observation_space, train.inputs.shape[2], "input"),
        output_names=None if is_class else named,
    )


def _milliseconds(dt: float) -> float:
    """The length of a bin in milliseconds, as a whole number where it is one up to rounding."""
    length = 1000 * dt
    return round(length) if abs(length - round(length)) < 1e-9 * length else length


def _environment(name: str, options: dict[str, Any]) -> Any:
    """Makes an environment without its wrappers."""
    known, make = _registered()
    entry = resolve_name(known[errors.one_of("task", name, sorted(known))])
    begin = entry.__init__ if inspect.isclass(entry) else entry  # a metaclass of neurogym hides the signature
    takes = {one: given for one, given in inspect.signature(begin).parameters.items() if one != "self"}
    any_keyword = any(one.kind is one.VAR_KEYWORD for one in takes.values())
    for option in options:
        if not any_keyword:
            errors.one_of(f"an option of task {PREFIX}{name}", option, sorted({*takes, *OWN_OPTIONS}))
    needed = [one.name for one in takes.values() if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]
    missing = [one for one in needed if one not in options]
    if missing:
        raise errors.ArgumentError(f"task {PREFIX}{name} needs the options {', '.join(missing)}; pass them in Python.")
    try:
        with warnings.catch_warnings():  # gymnasium's, about how neurogym declares its environments
            warnings.simplefilter("ignore")
            return make(name, **options).unwrapped
    except Exception as problem:  # whatever the environment raises for its arguments
        raise errors.ArgumentError(
            f"options is {errors.shown(options)}, with which {name} cannot be made ({type(problem).__name__}: "
            f"{errors.shortened(str(problem))})."
        ) from problem


def _registered() -> tuple[dict[str, str], Any]:
    """The environments of neurogym with the places of their classes, and the function that makes one."""
    try:
        import neurogym as package  # pyright: ignore[reportMissingImports]
        from neurogym.envs import registration  # pyright: ignore[reportMissingImports]
    except ImportError as problem:
        raise errors.ArgumentError(
            f"tasks of neurogym need the extra gnode[neurogym] ({errors.shortened(str(problem))}): "
            f"pip install 'gnode[neurogym]'."
        ) from problem
    return registration.ALL_EXTENDED_ENVS, package.make


class _Drawn(NamedTuple):
    """One trial: observations, and right actions."""

    inputs: np.ndarray
    targets: np.ndarray


def _draw(environment: Any, name: str, count: int, bins: int | None, seed: int) -> Trials:
    """Draws trials: each alone and padded, or as many after each other as `bins` takes."""
    environment.seed(seed)
    first = _one(environment, name)
    size = 4.0 * count * (bins or len(first.inputs)) * first.inputs.shape[1]
    errors.affordable("trials", count, size)
    drawn = itertools.chain([first], (_one(environment, name) for _ in itertools.count()))
    rows = [next(drawn) if bins is None else _sequence(drawn, bins) for _ in range(count)]
    lengths = np.array([len(row.inputs) for row in rows])
    longest = int(lengths.max())
    is_real = np.arange(longest) < lengths[:, None]
    inputs = np.zeros((count, longest, *first.inputs.shape[1:]), np.float32)
    targets = np.zeros((count, longest, *first.targets.shape[1:]), first.targets.dtype)
    inputs[is_real] = np.concatenate([row.inputs for row in rows])
    targets[is_real] = np.concatenate([row.targets for row in rows])
    dt = float(environment.dt) / 1000
    bin_lengths = dt if is_real.all() else np.where(is_real, np.float32(dt), np.float32(0))
    return Trials(inputs, targets, bin_lengths, lengths=lengths)


def _sequence(drawn: Any, bins: int) -> _Drawn:
    """Returns trials after each other, cut at the end."""
    parts: list[_Drawn] = []
    while sum(len(part.inputs) for part in parts) < bins:
        parts.append(next(drawn))
    return _Drawn(*(np.concatenate(both)[:bins] for both in zip(*parts)))


def _one(environment: Any, name: str) -> _Drawn:
    """Draws one trial, with one number per channel and bin."""
    try:
        environment.new_trial()
        observed, right = np.array(environment.ob), np.array(environment.gt)
    except AttributeError as problem:  # such a task has only rewards, or is made step by step
        raise errors.ArgumentError(
            f"task {PREFIX}{name} does not say what is seen and what is right during a whole trial "
            f"({errors.shortened(str(problem))}), so a network cannot be trained on it; choose another."
        ) from problem
    inputs = observed.reshape(len(observed), -1).astype(np.float32)
    if right.dtype.kind in "iu" and right.ndim == 1:
        right = right.astype(np.int32) - int(getattr(environment.action_space, "start", 0))
        if right.min() < 0 or right.max() >= environment.action_space.n:
            raise errors.ArgumentError(
                f"task {PREFIX}{name} has {environment.action_space.n} actions, but calls action {right.max()} right, so a "
                f"network cannot be trained on it; choose another."
            )
        return _Drawn(inputs, right)
    return _Drawn(inputs, right.reshape(len(right), -1).astype(np.float32))


def _names(space: Any, count: int, otherwise: str) -> tuple[str, ...]:
    """Returns names of channels or actions: {"choice": [1, 2]} of a space gives "choice 1" and "choice 2"."""
    found = [f"{otherwise} {number + 1}" for number in range(count)]
    given = getattr(space, "name", None)
    for name, places in (given if isinstance(given, dict) else {}).items():
        several = np.ravel(np.array(list(places) if isinstance(places, range) else places))
        if several.dtype.kind not in "iu" or several.min(initial=0) < 0 or several.max(initial=0) >= count:
            continue
        for number, place in enumerate(several.tolist(), 1):
            found[place] = str(name) if len(several) == 1 else f"{name} {number}"
    return tuple(found)
