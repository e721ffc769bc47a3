"""Named, composable preprocessing: `Preprocessor` and the `STEPS` it knows."""

from svmcore.preprocess.preprocessor import Preprocessor
from svmcore.preprocess.steps import STEPS, Parameter, Step, as_images, background, parse_step, usage

__all__ = ["STEPS", "Parameter", "Preprocessor", "Step", "as_images", "background", "parse_step", "usage"]
