"""The data of the laboratory: a catalogue of sets, where their files come from, and how files become arrays.

from data import load, catalogue
load("mnist").X_train        # (60000, 28, 28) uint8
"""

from data import catalogue
from data.catalogue import load
from data.dataset import DataError, Dataset, NotAtHand, UnknownDataset
from data.entry import Entry

__all__ = ["DataError", "Dataset", "Entry", "NotAtHand", "UnknownDataset", "catalogue", "load"]
