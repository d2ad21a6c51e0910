from gnode.export._export import TARGETS as TARGETS
from gnode.export._export import Exported as Exported
from gnode.export._export import export_network as export_network
