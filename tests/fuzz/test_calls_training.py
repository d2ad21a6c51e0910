"""Wrong calls of the rooms around training: some sentences, and that the table of valid calls has every public function."""

import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
import valid_calls_training as table

import gnode
from gnode import analysis, errors, plots, report, reproduce, sweeps, train
from gnode._lazy import _origins

ROOMS = ["train", "sweeps", "analysis", "plots", "explorer", "report", "reproduce", "baselines"]


def test_every_public_function_is_called_or_has_a_reason_not_to_be():
    called = {name.split(" ")[0].split(".")[-1] for name in table.VALID}
    public = set()
    for room in ROOMS:
        for name, (origin, original) in _origins(Path(gnode.__file__).parent / room / "__init__.pyi").items():
            value = getattr(importlib.import_module(origin), original)
            public |= {name} if inspect.isfunction(value) or inspect.isclass(value) else set()
    assert not public - called - set(table.NOT_CALLED)
    assert not set(table.NOT_CALLED) - public


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: train.fit(table.net(), table.task(), progress="no"), "progress is 'no', but must be True or False"),
        (lambda: train.Settings(shuffle="no"), "shuffle is 'no', but must be True or False"),
        (lambda: train.Settings(epoch=3), "Settings has no argument 'epoch'. Did you mean 'epochs'?"),
        (lambda: train.fit(table.net(), table.forecast(), extra_config={"task": 1}), "extra_config has 'task'"),
        (lambda: train.fit(table.net(), table.forecast(), extra_config={"a": object()}), "which JSON cannot store"),
        (lambda: train.fit(table.net(), table.task(), out="a\0b"), "no file name may hold"),
        (lambda: train.evaluate(table.net(), table.task(), table.classes().train), "trials has targets of shape"),
        (lambda: sweeps.Grid.over("flipflop-square", seed=range(2**62)), "combinations, but a sweep has at most"),
        (lambda: sweeps.Grid("flipflop-square", {"shuffle": ("no",)}), "shuffle is 'no', but must be True or False"),
        (lambda: analysis.study(table.net(), table.states(), dt=0.1, x=0), "x has shape (), but must have shape (2,)"),
        (lambda: analysis.study(table.net(), table.states(), dt=0.1, xs=0), "study has no argument 'xs'"),
        (lambda: analysis.system(lambda h, x: h[:1], state=2), "source returns an array of shape (1,)"),
        (lambda: analysis.system(lambda h, x: 1 / 0, state=2), "source fails as a function f(h, x)"),
        (lambda: analysis.state_plane(3, 1, 1), "must be two different coordinates"),
        (lambda: analysis.memory_lifetime(table.leak, [[1.0]], dt=1e-9, horizon=1e9), "too many bins"),
        (lambda: analysis.pca(np.full((2, 2), 1e308) * [[1], [-1]]), "whose squares overflow"),
        (lambda: plots.loss_curves({"a": np.ones(2)}, colours=["blu"]), "colours is 'blu', but must be a colour"),
        (lambda: plots.flow_field(table.field(), limits=1), "flow_field has no argument 'limits'"),
        (lambda: report.write_report(table.run(), "new", progress=lambda: None), "must be a function of 1 argument"),
        (lambda: reproduce.Claim("A.", "yes"), "verdict is 'yes', but must be one of: holds"),
    ],
)
def test_sentences(call, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(errors.GnodeError, match=re.escape(sentence)):
        call()
    assert list(tmp_path.iterdir()) == []
