"""The data of the laboratory: a catalogue of sets, where their files come from, and how files become arrays.

from data import load, catalogue
load("mnist").X_train        # (60000, 28, 28) uint8
"""

import os
import signal
import sys

if (
    sys.argv[:1] == ["-m"]
    and __name__ in sys.orig_argv
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
):
    # A command that still imports: nothing is to be tidied up, and Ctrl-C is no error to be traced
    signal.signal(signal.SIGINT, lambda *_: (os.write(2, b"\nstopped\n"), os._exit(130)))

from data import catalogue
from data.catalogue import load
from data.dataset import DataError, Dataset, NotAtHand, UnknownDataset
from data.entry import Entry

__all__ = ["DataError", "Dataset", "Entry", "NotAtHand", "UnknownDataset", "catalogue", "load"]
