"""Time: how a flow becomes a sequence of states."""

from gnode.solve.bins import advance as advance
from gnode.solve.cores import available_cores as available_cores
from gnode.solve.cores import check_cores as check_cores
from gnode.solve.cores import on_cores as on_cores
from gnode.solve.cores import split_over as split_over
from gnode.solve.cores import use_cores as use_cores
from gnode.solve.kernels import check_kernel as check_kernel
from gnode.solve.rollout import as_solver as as_solver
from gnode.solve.rollout import rollout as rollout
from gnode.solve.rollout import rollout_batch as rollout_batch
from gnode.solve.solver import ADJOINTS as ADJOINTS
from gnode.solve.solver import INTERPOLATIONS as INTERPOLATIONS
from gnode.solve.solver import KERNELS as KERNELS
from gnode.solve.solver import MEMORIES as MEMORIES
from gnode.solve.solver import METHODS as METHODS
from gnode.solve.solver import PRODUCTS as PRODUCTS
from gnode.solve.solver import Solver as Solver
