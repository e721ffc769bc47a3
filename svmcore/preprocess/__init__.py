"""Named, composable preprocessing: `Preprocessor` and the `STEPS` it knows."""

from svmcore.preprocess.arithmetic import as_images, permutation
from svmcore.preprocess.language import check_order, parse_step, split_steps, usage, written
from svmcore.preprocess.preprocessor import Preprocessor
from svmcore.preprocess.steps import STEPS, Parameter, Step
from svmcore.preprocess.upright import background
