"""query-jitter: the plain machine, each test example compared in the nearest of its forms."""

from svmcore.lab.costs import Work
from svmcore.lab.method import Method, jitters_on, steps_after_jitter
from svmcore.lab.methods.jsv import jittered_work
from svmcore.lab.solvers import train_svc
from svmcore.methods.jittering import query_jittered


class QueryJitter(Method):
    """Trained like `sv`; only what it decides on is jittered."""

    name = "query-jitter"
    title = "Jittered test examples"
    short = "SV, query jitter"
    help = "The plain machine, but each test example is compared in its nearest jittered form."
    source = "DeCoste and Schölkopf, Machine Learning 46 (2002), section 3.3 and Table 10"
    tasks = ("classify",)
    unlike = "its test examples are predicted by a jittered kernel, in their nearest forms"
    uses_jitters = needs_images = repeats = True

    def train(self, recipe, problem, monitor):
        estimator = train_svc(recipe, problem, monitor)
        jitters = jitters_on(problem.X_train, recipe.drawn_jitters, problem.image_shape)
        estimator.machine_ = query_jittered(
            estimator.machine_, jitters, problem.image_shape, steps_after_jitter(recipe)
        )
        return estimator

    def work(self, recipe) -> Work:
        return Work(recipe.kernel.work, jittered_work(recipe))
