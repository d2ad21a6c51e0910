"""One step of an optimiser, with the learning rate and its schedule as values."""

import inspect
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PyTree

from gnode.train.settings import Settings

ADAM = ("adam", "adamw")
"""The same here, because decay is a setting of its own."""

Hyper = dict[str, Float[Array, "..."]]


def rate_factor(hyper: Hyper, update: Int[Array, ""]) -> Float[Array, ""]:
    """Computes what the learning rate is multiplied by before update number `update`, which is counted from 0.

    See `LrSchedule` for the equation; all times are in updates here.
    """
    now = jnp.asarray(update, jnp.float32)
    warmup = hyper["lr_warmup"]
    rise = jnp.where(now < warmup, now / jnp.maximum(warmup, 1.0), 1.0)
    after = jnp.maximum(now - warmup, 0.0)
    cosine = (1 + jnp.cos(jnp.pi * jnp.minimum(after / hyper["lr_updates"], 1.0))) / 2
    fall = hyper["lr_final"] + (1 - hyper["lr_final"]) * cosine
    steps = jnp.floor(after / hyper["lr_every"])
    return rise * fall * hyper["lr_factor"] ** steps * hyper["lr_decay"] ** after


def first_state(optimiser: Any, params: PyTree) -> PyTree:
    """Returns the state of an optimiser before its first step."""
    if optimiser in ADAM:
        return optax.scale_by_adam().init(params)
    return _made(optimiser, 1.0).init(params)


def take_step(
    choices: Settings,
    hyper: Hyper,
    gradient: PyTree,
    now: tuple[PyTree, PyTree, Int[Array, ""]],
    decays: PyTree,
    loss: Float[Array, ""],
) -> tuple[PyTree, PyTree]:
    """Computes what is added to the weights, and the optimiser's new state.

    **Arguments:** `choices` and `hyper`, the settings; `gradient`; `now`: the optimiser's state, the weights, and the number
    of updates so far; `decays`, which weights decay; `loss`, which some optimisers look at.
    """
    state, params, update = now
    if choices.optimiser_has_own_rate:
        return optax.with_extra_args_support(choices.optimiser).update(gradient, state, params, value=loss)
    lr = hyper["lr"] * rate_factor(hyper, update)
    decay = hyper["weight_decay"]
    if choices.optimiser in ADAM:
        direction, state = optax.scale_by_adam().update(gradient, state, params)
        per_rate = decay if choices.decay == "scaled" else decay / jnp.where(lr > 0, lr, 1.0)
        weights = optax.add_decayed_weights(per_rate, mask=decays)
        direction, _ = weights.update(direction, weights.init(params), params)
        step, _ = optax.scale_by_learning_rate(lr).update(direction, optax.ScaleState())
        return step, state
    made = optax.with_extra_args_support(_made(choices.optimiser, lr))
    step, state = made.update(gradient, state, params, value=loss)
    rate = decay * lr if choices.decay == "scaled" else decay
    shrink = jax.tree.map(lambda move, w, shrinks: move - rate * w if shrinks else move, step, params, decays)
    return shrink, state


def _made(optimiser: Any, lr: Any) -> optax.GradientTransformation:
    """An optimiser of optax with this learning rate. Its own decay is off: `weight_decay` is the same for all. Noise of its
    own has a fixed key.
    """
    if not isinstance(optimiser, str):
        return optimiser
    if optimiser == "momentum":
        return optax.sgd(lr, momentum=0.9)
    make = getattr(optax, optimiser)
    wanted = {"weight_decay": 0.0, "key": 0}
    return make(lr, **{name: value for name, value in wanted.items() if name in inspect.signature(make).parameters})
