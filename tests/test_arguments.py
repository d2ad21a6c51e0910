"""Arguments are checked against annotations: kinds, names of keywords, and what the sentences say."""

import collections
import dataclasses
import functools
import inspect
import os
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax.typing import ArrayLike
from jaxtyping import Array, Complex, Float

from gnode import errors
from gnode.arguments import check_fields, check_kind, checked, checked_class, real_array

KEY = jax.random.key(0)
KINDS: list[tuple[Any, list[Any], list[Any]]] = [
    (bool, [True, np.True_], ["no", "", 1, 0, None, np.ones(1, bool), float("nan")]),
    (int, [3, 3.0, np.int8(3), jnp.array(3), 10**400], ["3", 0.5, True, 1j, [3], np.array("3"), np.True_, np.ones(1)]),
    (float, [3, 0.5, float("nan"), np.float32(1), jnp.array(1.0)], ["0.5", None, 1j, np.complex64(1j), b"1", [0.5]]),
    (complex, [1j, 1, np.complex64(1j)], ["1j", [1j]]),
    (str, ["", "a"], [b"a", 3, None, ["a"]]),
    (int | None, [None, 2], ["none", 0.5]),
    (Literal["a", "b"], ["a"], ["c", 3, None]),
    (Callable[[int], int], [len, int, lambda: 0], ["len", 3, None]),
    (pathlib.Path, [pathlib.Path("a")], ["a", 3]),
    (str | os.PathLike[str], ["a", pathlib.Path("a")], [3, b"a"]),
    (dict[str, int], [{}, {"a": 1}, collections.OrderedDict(a=1)], [{1: 1}, {"a": "b"}, [("a", 1)]]),
    (Mapping[str, Any], [{"a": None}], ["a", None]),
    (Sequence[int], [[], (1, 2), np.arange(2), range(3)], ["12", {1, 2}, [1, "a"], 3, {1: 2}, np.ones((2, 2)) / 3, [0.5]]),
    (Sequence[str], [["a"], ("a",)], ["a", [1], [b"a"]]),
    (Iterable[int], [[1], iter([1])], [3, "a"]),
    (tuple[int, float], [(1, 0.5), [1, 2]], [(1,), (1, 2, 3), (0.5, 1), "ab"]),
    (ArrayLike, [1.0, np.ones(2), jnp.ones(2), True, [1.0, 2.0], [[1], [2]]], ["a", None, [[1], [1, 2]], np.array(["a"])]),
    (Array, [jnp.ones(2), KEY], [np.ones(2), 1.0, "a"]),
    (np.ndarray, [np.ones(2), np.ones(2, ml_dtypes.bfloat16)], [[1.0], np.array(["a"]), np.zeros(2, "V4"), jnp.ones(2)]),
    (Float[Array, "a b"], [jnp.ones((2, 2)), np.ones((2, 2))], [jnp.ones(2), "a", np.array([["a"]]), np.ones((2, 2)) * 1j]),
    (Float[Array, "*batch a"], [jnp.ones(2), jnp.ones((2, 2, 2))], [1.0, None]),
    (Complex[Array, " a"], [np.ones(2) * 1j], ["a"]),
    (tuple[Float[Array, "_ _"], ...], [(jnp.ones((2, 2)),), ()], [jnp.ones((2, 2, 2)), (jnp.ones(2),)]),
    (Any, [None, "a", 3], []),
]  # fmt: skip


@pytest.mark.parametrize(("hint", "good", "bad"), KINDS, ids=[str(hint)[:40] for hint, _, _ in KINDS])
def test_kinds(hint, good, bad):
    for value in good:
        check_kind("value", value, hint)
    for value in bad:
        with pytest.raises(errors.ArgumentError, match=r"^value is .*, but must be .*\.$"):
            check_kind("value", value, hint)


def test_the_sentence_says_what_is_allowed():
    said = {
        "twice is 'no', but must be True or False.": ("twice", "no", bool),
        "key is 'a', but must be a whole number or a jax key (jax.random.key(0)).": ("key", "a", Array | int),
        "xs is 'a', but must be a number or an array of numbers.": ("xs", "a", ArrayLike),
        "W is an array of shape (2,), but must be an array of numbers of shape (rows, columns).": (
            "W",
            np.ones(2),
            Float[Array, "rows columns"],
        ),
        "kind is 'kaimin', but must be one of: 'kaiming', 'glorot'. Did you mean 'kaiming'?": (
            "kind",
            "kaimin",
            Literal["kaiming", "glorot"],
        ),
    }
    for sentence, call in said.items():
        with pytest.raises(errors.ArgumentError) as raised:
            check_kind(*call)
        assert str(raised.value) == sentence


@checked
def weigh(first: int, second: float = 1.0, *, third: bool = False) -> tuple[int, float, bool]:
    """Returns its arguments."""
    return first, second, third


@pytest.mark.parametrize(
    ("args", "kwargs", "says"),
    [
        ((), {}, "weigh needs first."),
        (
            (1, 2.0, True),
            {},
            "weigh is called with 3 positional arguments, but takes at most 2; pass the others by name",
        ),
        ((1,), {"first": 2}, "weigh is given first twice, by position and by name."),
        ((1,), {"secnd": 2}, "weigh has no argument 'secnd'. Did you mean 'second'?"),
        ((1,), {"zzz": 2}, "weigh has no argument 'zzz'. It takes: first, second, third."),
    ],
)
def test_wrong_names_and_numbers_of_arguments(args, kwargs, says):
    with pytest.raises(errors.CallError) as raised:
        weigh(*args, **kwargs)
    assert str(raised.value).startswith(says)
    assert isinstance(raised.value, TypeError)


def test_a_right_call_is_passed_on():
    assert weigh(1, third=True) == (1, 1.0, True)
    assert weigh.__doc__ == "Returns its arguments."
    assert list(inspect.signature(weigh).parameters) == ["first", "second", "third"]


def test_an_error_inside_the_function_is_not_hidden():
    @checked
    def broken(value: int) -> None:
        len(value)  # type: ignore[arg-type]

    with pytest.raises(TypeError) as raised:
        broken(3)
    assert not isinstance(raised.value, errors.GnodeError)


def test_names_for_type_checkers_only_are_left_out():
    @checked
    def function(known: int, unknown: "NoSuchName") -> "NoSuchName":
        return unknown

    assert function(1, "x") == "x"
    with pytest.raises(errors.ArgumentError, match="known is 'a'"):
        function("a", "x")


@checked_class
@dataclasses.dataclass(frozen=True)
class Step:
    length: float
    count: int = 1


@checked_class
class Layer(eqx.Module):
    W: Float[Array, "rows columns"]
    name: str = eqx.field(static=True, default="relu")


def test_classes_are_checked_when_they_are_made():
    assert Step(0.5).count == 1
    assert dataclasses.replace(Step(0.5), count=2).count == 2
    for wrong, says in (
        (lambda: Step("a"), "length is 'a'"),
        (lambda: Step(0.5, size=2), "Step has no argument 'size'"),
        (lambda: Step(), "Step needs length"),
        (lambda: Step(1, 2, 3), "Step is called with 3 positional arguments, but takes at most 2"),
        (lambda: dataclasses.replace(Step(0.5), count="no"), "count is 'no'"),
        (lambda: Layer(jnp.ones(2)), "W is an array of shape"),
        (lambda: Layer(jnp.ones((2, 2)), name=3), "name is 3"),
    ):
        with pytest.raises(errors.ArgumentError, match=says):
            wrong()


def test_fields_are_checked_after_init():
    @dataclasses.dataclass
    class Late:
        count: int

        def __post_init__(self):
            check_fields(self)

    assert Late(3).count == 3
    with pytest.raises(errors.ArgumentError, match="count is 'a'"):
        Late("a")


def test_modules_work_inside_transformations():
    @functools.partial(jax.jit)
    def doubled(layer: Layer) -> Layer:
        return Layer(2 * layer.W, layer.name)

    layer = Layer(jnp.ones((2, 2)))
    assert doubled(layer).W.sum() == 8
    assert jax.vmap(lambda W: Layer(W))(jnp.ones((3, 2, 2))).W.shape == (3, 2, 2)
    assert jax.grad(lambda x: checked_square(x))(3.0) == 6.0
    with pytest.raises(errors.ArgumentError, match="must be a number"):
        jax.jit(checked_square)(jnp.ones(2))


@checked
def checked_square(x: float) -> Any:
    return x * x


@pytest.mark.parametrize(
    "value", ["a", None, True, {"a": 1}, {1.0}, [[1.0], [1.0, 2.0]], [None], np.array(["a"]), np.zeros(2, "V4"), [1j]]
)
def test_what_is_no_array_of_real_numbers(value):
    with pytest.raises(errors.ArgumentError, match=r"^xs is .*an array of numbers"):
        real_array("xs", value)


def test_arrays_of_real_numbers():
    assert real_array("xs", [[1, 2]]).shape == (1, 2)
    assert isinstance(real_array("xs", jnp.ones(2)), jax.Array)
    assert jax.jit(lambda x: real_array("xs", x, 1, finite=True) * 2)(jnp.ones(2)).tolist() == [2.0, 2.0]
    with pytest.raises(errors.ArgumentError, match="with 2 dimensions"):
        real_array("xs", np.ones(3), 2)
    with pytest.raises(errors.ArgumentError, match="not finite"):
        real_array("xs", [1.0, float("nan")], finite=True)


def test_text_is_no_truth_in_the_public_functions():
    from gnode import cells, theory

    for call in (
        lambda: cells.lem(2, 3, gate="no", key=0),
        lambda: cells.gnode(2, 3, leak="no", key=0),
        lambda: theory.kernel("relu", 1.0, derivative="no"),
        lambda: theory.RandomStack(2, 1.0, activate_state="no"),
    ):
        with pytest.raises(errors.ArgumentError, match="is 'no', but must be True or False"):
            call()


def test_a_length_of_time_is_a_number():
    from gnode import build, rollout

    net = build("rnn", 2, 1, state=3, key=0)
    xs = np.zeros((1, 4, 2))
    for dt in (float("nan"), float("inf"), -1.0, [0.1, 0.2, float("nan"), 0.1]):
        for call in (
            lambda dt=dt: net.run(xs, dt=dt if isinstance(dt, float) else [dt]),
            lambda dt=dt: net(xs[0], dt=dt),
            lambda dt=dt: rollout(net.cell, xs[0], np.zeros(3), dt=dt),
        ):
            with pytest.raises(errors.ArgumentError, match="dt"):
                call()


def test_the_curve_takes_depths_not_a_depth():
    from gnode import theory

    with pytest.raises(errors.ArgumentError, match=r"depth.*Did you mean 'depths'"):
        theory.critical_curve(depth=3)
