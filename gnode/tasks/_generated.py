"""Trials that are drawn on the device: new ones for every epoch or update of training."""

import abc
import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Num

from gnode import errors
from gnode.arguments import checked
from gnode.tasks._trials import Task, Trials
from gnode.types import Key, as_key

RETURNS = (
    "(inputs, targets) or (inputs, targets, mask): arrays of time x inputs, time x outputs (or one class, or a class at "
    "every bin), and time"
)


class DrawnTrials(NamedTuple):
    """Trials on the device, as a generator draws them."""

    inputs: Float[Array, "trials time inputs"]
    targets: Num[Array, "trials ..."]
    dt: Float[Array, "trials time"]
    mask: Float[Array, "trials time"]
    lengths: Int[Array, " trials"]


@dataclasses.dataclass(frozen=True)
class TrialGenerator(abc.ABC):
    """Abstract base class of what draws trials on the device. It must be hashable: it is a part of the compiled program.

    - `dt`: the length of a bin in seconds.

    No example: `generated` makes one from a function.
    """

    dt: float

    @abc.abstractmethod
    def trial(self, key: Key) -> tuple[Array, ...]:
        """Draws one trial: inputs, targets and, if not all bins count, a mask."""

    def __call__(self, key: Key, count: int) -> DrawnTrials:
        """Draws a number of trials."""
        inputs, targets, *mask = jax.vmap(self.trial)(jax.random.split(key, count))
        shape = inputs.shape[:2]
        targets = targets if jnp.issubdtype(targets.dtype, jnp.integer) else targets.astype(jnp.float32)
        return DrawnTrials(
            inputs=inputs.astype(jnp.float32),
            targets=targets,
            dt=jnp.full(shape, self.dt, jnp.float32),
            mask=mask[0].astype(jnp.float32) if mask else jnp.ones(shape, jnp.float32),
            lengths=jnp.full(shape[0], shape[1], jnp.int32),
        )


@dataclasses.dataclass(frozen=True)
class FunctionTrials(TrialGenerator):
    """Draws trials by a user's function of a key."""

    function: Callable[[Key], Any]

    def trial(self, key: Key) -> tuple[Array, ...]:
        return tuple(jnp.asarray(part) for part in self.function(key))


@checked
def generated(
    trial: Callable[..., Any],
    *,
    dt: float,
    trials: int = 1000,
    validation: int = 200,
    test: int = 0,
    name: str | None = None,
    when: str = "every",
    outputs: int | None = None,
    classes: Sequence[str] | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    key: Key | int = 0,
) -> Task:
    """Makes a task from a function that draws one trial with `jax.random`.

    **Arguments:**

    - `trial`: a function of a key that returns inputs (time x inputs), targets (time x outputs; or whole numbers, one class
      or a class at every bin) and, if not all bins count, a mask (time). It is compiled, so its shapes must not depend on
      the key.
    - `dt`: the length of a bin in seconds.
    - `trials`, `validation`, `test`: how many trials there are. With `fit(fresh="epoch")` as many training trials are drawn
      anew for every epoch, with "update" for every update; the validation and test trials stay.
    - `name`: the name of the task; that of the function by default.
    - `when`: whether the loss counts at "every" bin or at the "last" one.
    - `outputs`: the number of classes, if targets are classes; not needed with `classes`.
    - `classes`, `input_names`, `output_names`: names of the classes, of the inputs and of the outputs, for figures and
      reports.
    - `key`: seed or key of the trials.

    **Returns:** a `Task`.

    **Raises:** `ArgumentError` if the function fails or returns something else.

    >>> def integrate(key):
    ...     inputs = jax.random.normal(key, (20, 1))
    ...     return inputs, jnp.cumsum(inputs, axis=0)
    >>> generated(integrate, dt=0.01, trials=4, validation=2)
    Task('integrate', 4 training and 2 validation trials of 20 bins, 1 input, 1 output, loss mse at every bin)
    """
    generator = FunctionTrials(errors.positive("dt", dt), trial)
    counts = [errors.whole("trials", trials), errors.whole("validation", validation), errors.whole("test", test, 0)]
    shapes = _shapes(generator)
    errors.affordable("trials", sum(counts), 4.0 * sum(counts) * sum(math.prod(one.shape) for one in shapes))
    parts = []
    for count, own in zip(counts, jax.random.split(as_key(key), len(counts))):
        parts.append(_as_trials(generator(own, count), dt) if count else None)
    is_class = jnp.issubdtype(shapes[1].dtype, jnp.integer)
    return Task(
        name=getattr(trial, "__name__", "generated") if name is None else name,
        train=parts[0],
        validation=parts[1],
        test=parts[2],
        outputs=_classes_of(outputs, classes) if is_class else shapes[1].shape[-1],
        loss="cross_entropy" if is_class else "mse",
        when=when,
        generator=generator,
        **_names(classes=classes, input_names=input_names, output_names=output_names),
    )


def _classes_of(outputs: int | None, classes: Sequence[str] | None) -> int:
    if outputs is None and classes is None:
        raise errors.ArgumentError(
            "outputs is missing: pass the number of classes that the function can return, or their names as classes."
        )
    return len(classes or ()) if outputs is None else outputs


def _names(**given: Sequence[str] | None) -> dict[str, Any]:
    for name, texts in given.items():
        if texts is not None and (isinstance(texts, str) or not all(isinstance(one, str) for one in texts)):
            raise errors.ArgumentError(f"{name} is {errors.shown(texts)}, but must be a list of texts.")
    return {name: None if texts is None else tuple(texts) for name, texts in given.items()}


def _shapes(generator: FunctionTrials) -> list[Any]:
    """The shapes of what the function returns, without running it."""
    try:
        found = jax.eval_shape(generator.trial, jax.random.key(0))
    except Exception as problem:  # whatever a user's function raises
        raise errors.ArgumentError(
            f"trial fails when it is given a key ({type(problem).__name__}: {errors.shortened(str(problem))}); it must "
            f"return {RETURNS}."
        ) from problem
    shapes = [one.shape for one in found]
    whole = len(found) > 1 and jnp.issubdtype(found[1].dtype, jnp.integer)
    is_class = whole and shapes[1] in ((), shapes[0][:1])
    fits = len(found) in (2, 3) and len(shapes[0]) == 2 and 0 not in shapes[0]
    fits = fits and (is_class or (len(shapes[1]) == 2 and shapes[1][0] == shapes[0][0]))
    if not fits or (len(found) == 3 and shapes[2] != shapes[0][:1]):
        raise errors.ArgumentError(f"trial returns arrays of shapes {errors.shown(shapes)}, but must return {RETURNS}.")
    return list(found)


def _as_trials(drawn: DrawnTrials, dt: float) -> Trials:
    inputs, targets, _, mask, lengths = (np.asarray(part) for part in drawn)
    return Trials(inputs, targets, dt, mask, lengths)
