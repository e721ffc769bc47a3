"""Editing: training sets without the examples that only make a machine large. Cross-training and its kin."""

from svmcore.methods.editing.bagged import bagged
from svmcore.methods.editing.edited import EditingSVC
from svmcore.methods.editing.estimator import CrossTrainingSVC
from svmcore.methods.editing.roles import Edited
from svmcore.methods.editing.rules import RULES, edit
