"""Right-hand sides: dh/dt as a function of a state h and an input x. One file per equation."""

from collections.abc import Callable

from gnode.cells.base import Cell as Cell
from gnode.cells.gated import Gated as Gated
from gnode.cells.gated import gated as gated
from gnode.cells.gated import gnode as gnode
from gnode.cells.gated import mgru as mgru
from gnode.cells.gated import node as node
from gnode.cells.gated import rate_rnn as rate_rnn
from gnode.cells.gated import rnn as rnn
from gnode.cells.gru import GRU as GRU
from gnode.cells.gru import gru as gru
from gnode.cells.lem import LEM as LEM
from gnode.cells.lem import lem as lem
from gnode.cells.lstm import LSTM as LSTM
from gnode.cells.lstm import lstm as lstm
from gnode.cells.stack import Stack as Stack
from gnode.cells.timescale import FixedTimescale as FixedTimescale
from gnode.cells.timescale import LearnedTimescale as LearnedTimescale
from gnode.cells.timescale import Timescale as Timescale

CELLS: dict[str, Callable[..., Cell]] = {
    "rnn": rnn,
    "rate_rnn": rate_rnn,
    "mgru": mgru,
    "gru": gru,
    "lstm": lstm,
    "lem": lem,
    "node": node,
    "gnode": gnode,
}
"""Every named cell, by the name that the command line uses."""
