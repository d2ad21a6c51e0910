"""What JAX may drop: without Pallas or its Triton backend everything but the GPU kernels works, and says what is missing."""

import subprocess
import sys

import pytest

from gnode import errors
from gnode.solve.gpu import backend

PROGRAM = """
import sys
sys.modules[{gone!r}] = None

import warnings
import jax
import numpy as np
import gnode
from gnode.solve import Solver, check_kernel
from gnode.solve.gpu import choice, fused

task = gnode.tasks.flip_flop("square", trials=4, validation=2, bins=3, key=0)


def net(kernel):
    return gnode.build("gnode", 2, 2, state=2, widths=(4,), tau=0.01, solver={{"kernel": kernel}}, key=0)


class Stop(gnode.train.Callback):
    def after_epoch(self, moment):
        raise RuntimeError("stop here")


warnings.simplefilter("error")
states = gnode.rollout(net("auto").cell, np.ones((5, 2)), np.zeros(2), dt=0.1)
assert np.isfinite(states).all()
loop = gnode.fit(net("loop"), task, epochs=2, progress=False).curves["train"]
np.testing.assert_array_equal(gnode.fit(net("fused"), task, epochs=2, progress=False).curves["train"], loop)
try:
    gnode.fit(net("fused"), task, epochs=2, callbacks=[Stop()], checkpoint_seconds=0, progress=False, out={out!r})
except gnode.errors.GnodeError:
    pass

# From here on as on a GPU.
choice.is_on_gpu = lambda: True
jax.default_backend = lambda: "gpu"
fused.OLDEST = 0.0
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    again = gnode.fit(net("auto"), task, epochs=2, progress=False).curves["train"]  # compiled here for the first time
    np.testing.assert_array_equal(again, loop)
    print(*(warning.message for warning in said), sep="\\n")
for kernel in ("fused", "streamed"):
    try:
        gnode.fit(net(kernel), task, epochs=2, progress=False)
    except gnode.errors.ArgumentError as problem:
        print(problem)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    resumed = gnode.resume({out!r})
    np.testing.assert_array_equal(resumed.curves["train"], loop)
    print(resumed.status, *(warning.message for warning in said), sep="\\n")
"""


@pytest.mark.parametrize("gone", [backend.TRITON, backend.PALLAS])
def test_everything_but_the_kernels_works_without(gone, tmp_path):
    program = PROGRAM.format(gone=gone, out=str(tmp_path / "run"))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    needs = f"needs {gone}, which this version of JAX does not have"
    assert done.stdout.splitlines() == [
        f"the fused kernel does not run on this GPU (a GPU kernel {needs}); training uses the compiled loop.",
        f"kernel is 'fused', but that kernel {needs}; use kernel='auto'.",
        f"kernel is 'streamed', but that kernel {needs}; use kernel='auto'.",
        "finished",
        f"the fused kernel {needs}; training goes on by the compiled loop.",
    ]


def test_another_backend_takes_the_place_of_one_that_is_gone(monkeypatch):
    class Gone(backend.Triton):
        needs = (backend.PALLAS, "jax.experimental.pallas.not_there")

    class Other(backend.Triton):
        needs = (backend.PALLAS,)

    gone, other = Gone(), Other()
    monkeypatch.setattr(backend, "BACKENDS", (gone, other))
    assert backend.backend() is other
    assert backend.backend(interpret=True) is gone  # the interpreter needs no compiler
    assert backend.why_missing() == ""
    monkeypatch.setattr(backend, "BACKENDS", (gone,))
    with pytest.raises(errors.GnodeError, match=r"a GPU kernel needs jax\.experimental\.pallas\.not_there"):
        backend.backend()
