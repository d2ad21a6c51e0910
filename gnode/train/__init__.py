"""Training: one network, or a grid of them; runs are folders of plain files."""

from gnode.train.fit import fit as fit
from gnode.train.fit import resume as resume
from gnode.train.run import Run as Run
from gnode.train.run import load as load
from gnode.train.settings import Settings as Settings
from gnode.train.settings import growing as growing
