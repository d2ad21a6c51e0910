"""How fast this machine trains, against what a user would pick instead."""

from gnode.bench.rivals import RIVALS as RIVALS
from gnode.bench.shapes import SHAPES as SHAPES
from gnode.bench.shapes import Shape as Shape
from gnode.bench.table import bench as bench
from gnode.bench.timing import compare as compare
from gnode.bench.timing import measured_peak as measured_peak
