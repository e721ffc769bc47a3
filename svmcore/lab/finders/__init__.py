"""The finders that detection knows; one more is a file here and a line below."""

from svmcore.lab.finder import Finder
from svmcore.lab.finders.matched import Matched
from svmcore.lab.finders.scanned import Scanned

FINDERS: dict[str, Finder] = {finder.name: finder for finder in (Matched(), Scanned())}
