"""The finders that detection knows; one more is a file here and a line below."""

from svmcore.lab.registry.finder import Finder
from svmcore.lab.registry.finders.matched import Matched
from svmcore.lab.registry.finders.scanned import Scanned

FINDERS: dict[str, Finder] = {finder.name: finder for finder in (Matched(), Scanned())}
