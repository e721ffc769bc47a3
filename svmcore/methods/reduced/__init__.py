"""Reduced sets: a machine's expansion by fewer vectors."""

from svmcore.methods.reduced.answers import Answers
from svmcore.methods.reduced.checks import METHODS
from svmcore.methods.reduced.estimator import ReducedSet
from svmcore.methods.reduced.expansion import Expansion
from svmcore.methods.reduced.start import STARTS
from svmcore.methods.reduced.threshold import best_thresholds
