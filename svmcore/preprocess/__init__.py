"""Named, composable preprocessing: `Preprocessor` and the `STEPS` it knows."""

from svmcore.preprocess.preprocessor import Preprocessor
from svmcore.preprocess.steps import (
    STEPS,
    Parameter,
    Step,
    as_images,
    check_order,
    parse_step,
    permutation,
    split_steps,
    usage,
    written,
)
from svmcore.preprocess.upright import background
