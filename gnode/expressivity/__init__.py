"""Fitting noise: how complex a trajectory a network can be made to follow (the paper's practical measure)."""

from gnode.expressivity.longest import LongestFit as LongestFit
from gnode.expressivity.longest import longest_fit as longest_fit
from gnode.expressivity.longest import longest_fit_of as longest_fit_of
from gnode.expressivity.measure import LEARNING_RATES as LEARNING_RATES
from gnode.expressivity.measure import WEIGHT_DECAYS as WEIGHT_DECAYS
from gnode.expressivity.measure import Expressivity as Expressivity
from gnode.expressivity.measure import Point as Point
from gnode.expressivity.measure import measure as measure
from gnode.expressivity.sde import along_path as along_path
from gnode.expressivity.sde import solve_ou as solve_ou
from gnode.expressivity.sweeps import train_or_resume as train_or_resume
from gnode.tasks.ou import OrnsteinUhlenbeck as OrnsteinUhlenbeck
