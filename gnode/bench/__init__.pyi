from gnode.bench._rivals import RIVALS as RIVALS
from gnode.bench._shapes import SHAPES as SHAPES
from gnode.bench._shapes import BenchShape as BenchShape
from gnode.bench._table import bench as bench
from gnode.bench._timing import compare as compare
from gnode.bench._timing import measured_peak as measured_peak
