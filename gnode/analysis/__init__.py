"""Looking inside: fixed points, stability, continuous attractors, flow fields, Lyapunov exponents.

Works on any network, cell, or function f(h, x); everything here computes in float64.
"""

from gnode.analysis.attractor import Attractor as Attractor
from gnode.analysis.attractor import Check as Check
from gnode.analysis.attractor import Gating as Gating
from gnode.analysis.attractor import attractor as attractor
from gnode.analysis.attractor import slow_states as slow_states
from gnode.analysis.fields import System as System
from gnode.analysis.fields import system as system
from gnode.analysis.fixed_points import box_starts as box_starts
from gnode.analysis.fixed_points import fixed_points as fixed_points
from gnode.analysis.flow import FlowField as FlowField
from gnode.analysis.flow import Plane as Plane
from gnode.analysis.flow import flow_field as flow_field
from gnode.analysis.flow import output_plane as output_plane
from gnode.analysis.flow import pca_plane as pca_plane
from gnode.analysis.flow import points_plane as points_plane
from gnode.analysis.flow import state_plane as state_plane
from gnode.analysis.found import PRESETS as PRESETS
from gnode.analysis.found import STATUSES as STATUSES
from gnode.analysis.found import FixedPoints as FixedPoints
from gnode.analysis.found import Settings as Settings
from gnode.analysis.lyapunov import LyapunovExponents as LyapunovExponents
from gnode.analysis.lyapunov import lyapunov as lyapunov
from gnode.analysis.manifold import SHAPES as SHAPES
from gnode.analysis.manifold import Manifold as Manifold
from gnode.analysis.manifold import Shape as Shape
from gnode.analysis.manifold import manifold as manifold
from gnode.analysis.manifold import shape as shape
from gnode.analysis.memory import PAPER_RANGES as PAPER_RANGES
from gnode.analysis.memory import AmplitudeError as AmplitudeError
from gnode.analysis.memory import MemoryLifetime as MemoryLifetime
from gnode.analysis.memory import error_by_amplitude as error_by_amplitude
from gnode.analysis.memory import hold_pulses as hold_pulses
from gnode.analysis.memory import memory_lifetime as memory_lifetime
from gnode.analysis.memory import trial_error as trial_error
from gnode.analysis.pca import PCA as PCA
from gnode.analysis.pca import pca as pca
from gnode.analysis.stability import CLASSES as CLASSES
from gnode.analysis.stability import Stability as Stability
from gnode.analysis.stability import stability as stability
from gnode.analysis.study import FEWEST_SLOW_STATES as FEWEST_SLOW_STATES
from gnode.analysis.study import Findings as Findings
from gnode.analysis.study import study as study
