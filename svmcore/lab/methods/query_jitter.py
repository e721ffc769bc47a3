"""query-jitter: the plain machine, each test example compared in the nearest of its forms."""

from dataclasses import replace

from svmcore.lab.costs import Work
from svmcore.lab.method import Method, jitters_on, makes_features_within, steps_after_jitter
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
    uses_jitters = needs_images = repeats = of_forms = True

    def train(self, recipe, problem, monitor):
        estimator = train_svc(recipe, problem, monitor)
        machine, images, shape = estimator.machine_, problem.X_train, problem.image_shape
        if makes_features_within(recipe):
            images, shape = problem.images, problem.images_shape
            machine = replace(machine, support_vectors=images[machine.support])
        jitters = jitters_on(images, recipe.drawn_jitters, shape)
        estimator.machine_ = query_jittered(machine, jitters, shape, steps_after_jitter(recipe))
        return estimator

    def work(self, recipe) -> Work:
        return Work(recipe.kernel.work, jittered_work(recipe))
