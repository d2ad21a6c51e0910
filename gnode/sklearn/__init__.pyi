from gnode.sklearn._classifier import SequenceClassifier as SequenceClassifier
from gnode.sklearn._regressor import SequenceRegressor as SequenceRegressor
