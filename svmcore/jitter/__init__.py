"""Sets of image transformations under which a class does not change: `JitterSet`, and the language that names them."""

from svmcore.jitter.families import FAMILIES, Jitter
from svmcore.jitter.points import PointJitters
from svmcore.jitter.sets import Factors, JitterSet, seeded
