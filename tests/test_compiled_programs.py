"""Compiled programs are dropped before a process has more memory regions than it may."""

import jax
import jax.numpy as jnp
import pytest

from gnode import compiled_programs, tasks
from gnode.cells import gru
from gnode.network import Network
from gnode.train import fit, load

needs_linux = pytest.mark.skipif(
    not compiled_programs.MAPS.exists(), reason="only Linux tells a process its memory regions"
)


def compile_some(count):
    for size in range(2, count + 2):
        jax.jit(lambda a: jnp.tanh(a @ a.T).sum())(jnp.ones((size, size)))


@needs_linux
def test_regions_grow_with_programs_and_go_with_them(monkeypatch, tmp_path):
    limit = tmp_path / "max_map_count"
    monkeypatch.setattr(compiled_programs, "MOST_MAPS", limit)
    before = compiled_programs.regions_in_use()
    compile_some(30)
    grown = compiled_programs.regions_in_use()
    assert grown > before + 30
    limit.write_text(f"{10 * grown}\n")  # not the system's own: other tests have left programs of theirs
    assert not compiled_programs.drop_if_too_many()
    limit.write_text(f"{int(grown / compiled_programs.SHARE) - 1}\n")
    assert compiled_programs.drop_if_too_many()
    assert compiled_programs.regions_in_use() < grown - 30
    assert float(jax.jit(lambda a: a + 1)(jnp.float32(1))) == 2  # and all goes on


@pytest.mark.parametrize(("maps", "most"), [(None, "65530"), ("a\nb\n", None), ("a\nb\n", "unlimited")])
def test_where_the_system_does_not_tell_nothing_is_dropped(tmp_path, monkeypatch, maps, most):
    for name, text in (("MAPS", maps), ("MOST_MAPS", most)):
        path = tmp_path / name
        if text is not None:
            path.write_text(text)
        monkeypatch.setattr(compiled_programs, name, path)
    assert not compiled_programs.drop_if_too_many()


def test_every_training_and_every_network_that_is_loaded_looks_first(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr("gnode.compiled_programs.drop_if_too_many", lambda: asked.append(True))
    task = tasks.make("flipflop-fixed", trials=4, validation=2, bins=10)
    fit(Network(gru(3, 2, key=0), 3, key=0), task, epochs=1, progress=False, out=tmp_path / "run")
    assert len(asked) == 1
    load(tmp_path / "run")
    assert len(asked) == 2
