from gnode.init._initialiser import INITIALISERS as INITIALISERS
from gnode.init._initialiser import Initialiser as Initialiser
from gnode.init._initialiser import empirical_gain as empirical_gain
from gnode.init._initialiser import initialiser as initialiser
from gnode.init._rules import RULES as RULES
from gnode.init._rules import SMALL_BIAS_STD as SMALL_BIAS_STD
from gnode.init._rules import describe_rule as describe_rule
