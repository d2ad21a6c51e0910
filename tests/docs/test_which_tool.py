"""docs/which-tool.md names every public function and class, every command, and nothing that does not exist."""

import importlib
import inspect
import re

import pytest
from in_pages import ROOT

import gnode
from gnode.cli import _app

TEXT = (ROOT / "docs" / "which-tool.md").read_text()
ROOMS = sorted(face.parent.name for face in (ROOT / "gnode").glob("*/__init__.pyi"))
NO_TOOLS = {
    "drawn by the function of the same name in small letters": """
        cells.CfC cells.CoRNN cells.Dale cells.GRUODEBayes cells.Gated cells.GatedNeuralCDE cells.HeavyBall cells.Layers
        cells.LowRank cells.NeuralCDE cells.NeuralSDE cells.UnICORNN""",
    "the type of what a function takes, returns or is made of, and described there": """
        baselines.Baseline bench.BenchShape cells.Mixing init.Initialiser network.AbstractNetwork network.AffineState
        network.AugmentedState network.FixedState network.InitialState network.LearnedState solve.AtOnce""",
    "of use inside gnode, or to who writes another such room": """
        baselines.neural_cde baselines.solver_errors programs.Constants programs.NamedArrays programs.NotExportable
        programs.Purpose programs.Shape programs.program programs.words_of solve.as_solver solve.check_kernel""",
    "the base of all errors": "GnodeError",
}
"""Public names that answer no question, by the reason; names in capitals, such as constants, are not asked for either."""


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_which_tool_names_every_public_function_and_class(room):
    """By its whole name, as `gnode.analysis.fixed_points`, or as a name of `gnode` where it is one; but for `NO_TOOLS`."""
    module = importlib.import_module(f"gnode.{room}".rstrip("."))
    names = {name for name in module.__all__ if not name.isupper() and not inspect.ismodule(getattr(module, name))}
    in_room = {name for name in names if f"`{module.__name__}.{name}`" in TEXT}
    at_top = {name for name in names & set(gnode.__all__) if f"`gnode.{name}`" in TEXT}
    exempt = {name for name in names if f"{room}.{name}".strip(".") in " ".join(NO_TOOLS.values()).split()}
    assert names
    assert not names - in_room - at_top - exempt
    assert not exempt & (in_room | at_top)


def test_which_tool_names_every_command():
    assert not [name for name in _app.COMMANDS if f"`gnode {name}" not in TEXT]


def test_what_which_tool_names_exists():
    for name in set(re.findall(r"`(gnode(?:\.\w+)+)`", TEXT)):
        found = gnode
        for part in name.split(".")[1:]:
            found = getattr(found, part, None) or importlib.import_module(f"{found.__name__}.{part}")
