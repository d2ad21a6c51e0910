"""Training: one network, or a grid of them; runs and sweeps are folders of plain files."""

from gnode.train.engines import ENGINES as ENGINES
from gnode.train.evaluation import Evaluation as Evaluation
from gnode.train.evaluation import evaluate as evaluate
from gnode.train.fit import fit as fit
from gnode.train.fit import resume as resume
from gnode.train.grid import Grid as Grid
from gnode.train.horizon import HorizonError as HorizonError
from gnode.train.horizon import error_by_horizon as error_by_horizon
from gnode.train.parts import Part as Part
from gnode.train.run import Run as Run
from gnode.train.run import load as load
from gnode.train.settings import Settings as Settings
from gnode.train.settings import growing as growing
from gnode.train.sweep import resume_sweep as resume_sweep
from gnode.train.sweep import sweep as sweep
from gnode.train.swept import Sweep as Sweep
