"""Named, composable preprocessing: `Pipeline` and the `STEPS` it knows."""

from svmcore.preprocess.pipeline import Pipeline
from svmcore.preprocess.steps import STEPS, Parameter, Step, as_images, background, parse_step, usage

__all__ = ["STEPS", "Parameter", "Pipeline", "Step", "as_images", "background", "parse_step", "usage"]
