"""Every test runs on the CPU, with the shapes in the signatures checked where beartype is installed."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

# Whatever the machine has: float32 products of a GPU are TF32, which the tolerances here are not for (see make test-gpu).
if os.environ.get("GNODE_TEST_GPU") != "1":
    os.environ["JAX_PLATFORMS"] = "cpu"
# Several tests run at a time, each on a core of its own: numpy's own threads would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Compiling is what tests wait for. Programs are small, so optimising them costs more than it saves (`make test-slow` does).
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
# Halves the time again. Only where these flags are known to be there: XLA aborts the process on one that it does not know.
# Without fused multiply-add, how a program is cut into fusions changes no rounding, and equal numbers stay equal.
if version("jax").startswith("0.10.") and platform.machine() == "x86_64":
    flags = "use_fusion_emitters=false", "max_isa=AVX", "parallel_codegen_split_count=1", "multi_thread_eigen=false"
    os.environ.setdefault("XLA_FLAGS", " ".join(f"--xla_cpu_{flag}" for flag in flags))
# Sub-processes in other folders find the package, also where it is not installed.
ROOT = Path(__file__).parent.parent
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
# What one worker or sub-process has compiled, no other one compiles again, nor does the next run.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(ROOT / ".pytest_cache" / "compiled"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")

import dataclasses
import gc
import importlib.util
import signal

import jax
import pytest
from jaxtyping import install_import_hook

if importlib.util.find_spec("beartype") is not None:
    install_import_hook("gnode", "shapes_only.check")  # stays: rooms are imported when they are first used


LONG_TESTS = Path(__file__).parent / "long_tests.txt"
"""The tests that take longer than LONG seconds, as `pytest --find-long-tests` found them."""
LONG = 0.25


def pytest_addoption(parser):
    parser.addoption("--fast", action="store_true", help="leave out the tests that take longer than a moment")
    parser.addoption("--find-long-tests", action="store_true", help=f"write {LONG_TESTS.name} anew")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--fast"):
        long = set(LONG_TESTS.read_text().splitlines())
        left_out = [item for item in items if item.nodeid in long]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item.nodeid not in long]


def pytest_terminal_summary(terminalreporter, config):
    if config.getoption("--find-long-tests"):
        seconds = {}
        for reports in terminalreporter.stats.values():
            for report in reports:
                if hasattr(report, "duration") and hasattr(report, "nodeid"):
                    seconds[report.nodeid] = seconds.get(report.nodeid, 0.0) + report.duration
        long = sorted(name for name, total in seconds.items() if total > LONG)
        LONG_TESTS.write_text("\n".join(long) + "\n")


MOST_MEMORY = 6 * 2**30
"""Bytes of a worker beyond which the programs that it compiled are dropped: those of all tests together fill a machine."""


def pytest_runtest_teardown(item, nextitem):
    if nextitem is None or nextitem.path != item.path:
        statm = Path("/proc/self/statm")
        if statm.exists() and int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") > MOST_MEMORY:
            jax.clear_caches()
            gc.collect()


@pytest.fixture(autouse=True, scope="session")
def coarse_figures():
    """Figures are drawn as for users, with fewer dots and without compression, which takes half as long."""
    from gnode.plots import _style

    _style.STYLE |= {"savefig.dpi": 72, "pdf.fonttype": 3, "pdf.compression": 0}


@pytest.fixture
def x64():
    """float64 inside the test, as the analysis rooms use it."""
    with jax.enable_x64(True):
        yield


@dataclasses.dataclass(frozen=True)
class Said:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str

    def ok(self) -> str:
        """What a command that must end well printed, as one line."""
        assert self.status == 0, self.err
        return " ".join(self.out.split())

    def one_sentence(self) -> str:
        """The sentence of a command that failed: one line on stderr, exit status 2."""
        assert self.status == 2, (self.out, self.err)
        assert self.err.startswith("gnode: ")
        assert len(self.err.strip().splitlines()) == 1, self.err
        return self.err


@pytest.fixture
def gnode_command(capsys, monkeypatch):
    """Runs a `gnode` command line in this process: every test of the command line goes through it.

    Only what needs a process of its own (signals, kills, what is imported) starts one.
    """
    handlers = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    monkeypatch.setenv("XLA_FLAGS", os.environ.get("XLA_FLAGS", ""))  # a sweep sets its own; not for later tests
    monkeypatch.setenv("COLUMNS", "200")

    def run(words, *more):
        from gnode.cli import main

        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main([*words.split(), *map(str, more)])
        return Said(end.value.code or 0, *capsys.readouterr())

    yield run
    for one, handler in handlers.items():
        signal.signal(one, handler)
