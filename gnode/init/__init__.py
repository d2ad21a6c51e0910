"""Draws weights; the critical rule asks theory for its scale."""

from gnode.init.initialiser import INITIALISERS as INITIALISERS
from gnode.init.initialiser import SMALL_BIAS_STD as SMALL_BIAS_STD
from gnode.init.initialiser import Initialiser as Initialiser
from gnode.init.initialiser import empirical_gain as empirical_gain
from gnode.init.initialiser import initialiser as initialiser
