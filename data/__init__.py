"""The datasets of the lab: the catalogue, where the files come from, and how they are read into arrays.

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
    # While a command imports there is nothing to clean up, so Ctrl-C needs no traceback
    signal.signal(signal.SIGINT, lambda *_: (os.write(2, b"\nstopped\n"), os._exit(130)))

from data import catalogue
from data.catalogue import load
from data.dataset import DataError, Dataset, NotAtHand, UnknownDataset
from data.entry import Entry

__all__ = ["DataError", "Dataset", "Entry", "NotAtHand", "UnknownDataset", "catalogue", "load"]
