"""Results in, matplotlib figures out. The only room that draws."""

from gnode.plots.analysis import flow_field as flow_field
from gnode.plots.scores import confusion_matrix as confusion_matrix
from gnode.plots.scores import horizon_errors as horizon_errors
from gnode.plots.style import MODEL_COLOURS as MODEL_COLOURS
from gnode.plots.style import MODEL_NAMES as MODEL_NAMES
from gnode.plots.style import save as save
from gnode.plots.sweeps import best_curves as best_curves
from gnode.plots.sweeps import strip as strip
from gnode.plots.training import example_trial as example_trial
from gnode.plots.training import loss_curves as loss_curves
from gnode.plots.training import validation_trial as validation_trial
