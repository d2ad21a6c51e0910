from gnode.doctor._examine import examine as examine
from gnode.doctor._examine import mend as mend
from gnode.doctor._problem import Examination as Examination
from gnode.doctor._problem import Problem as Problem
