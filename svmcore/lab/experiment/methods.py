"""How each method of a recipe trains: METHODS[recipe.method](recipe, problem, monitor) -> a fitted estimator.

    sv             one machine on the examples                                          SVC
    vsv            again on transformed copies of the support vectors                   VirtualSVC
    jsv            with the kernel that jitters                                         SVC, Jittered
    query-jitter   the machine of "sv", each test example compared in its nearest form  SVC, Jittered when it decides
    tangent        with the kernel that whitens tangents                                SVC, TangentWhitened

Whatever the method, `machine_` of the estimator decides on examples preprocessed like X_test.

Reference: DeCoste and Schoelkopf, Machine Learning 46 (2002), section 3.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmcore.kernels import Kernel, kernel_from_dict
from svmcore.lab.experiment.problem import Problem, steps_after_jitter
from svmcore.lab.recipe.recipe import Recipe, RecipeError
from svmcore.methods.blockwise import DirectedKernel
from svmcore.methods.definite import PositivePart, examine
from svmcore.methods.jittering import Jittered, query_jittered
from svmcore.methods.local import LocalPoly
from svmcore.methods.virtual import VirtualSVC
from svmcore.solvers.digestion import Digestion
from svmcore.svc import SVC

EXAMINED = 1000  # support vectors on which a jittering kernel is examined: on 150 few are seen not to be definite
LOCAL_WORK = 30  # plain kernel values that take as long as one of the local kernel


def figures(estimator) -> dict:
    """What a result says beyond the figures that all methods share; JSON-able.

    For virtual SVs: jitters (the set that machine.jitter counts in), n_virtual (size of each machine's virtual training
    set), and the first stage's n_sv, n_bound and n_union under "base". For training with a kernel that jitters:
    kernel_check, what `examine` finds on some of the support vectors.
    """
    vectors = estimator.machine_.support_vectors
    if isinstance(estimator.kernel_, Jittered | PositivePart) and len(vectors):
        some = np.random.default_rng(0).permutation(len(vectors))[:EXAMINED]
        report = examine(estimator.kernel_, vectors[some])
        return {"kernel_check": report._asdict() | {"warning": report.warning}}
    if not isinstance(estimator, VirtualSVC):
        return {}
    found = {"jitters": str(estimator.jitters_), "n_virtual": estimator.n_virtual_.tolist()}
    if estimator.base_ is not None:
        base = estimator.base_.machine_
        counts = {"n_sv": base.n_sv.tolist(), "n_bound": base.bound.sum(axis=1).tolist(), "n_union": len(base.support)}
        found["base"] = counts
    return found


def work(kernel: Kernel) -> float:
    """How many values of a kernel of inner products take as long as one of this kernel."""
    if isinstance(kernel, Jittered):
        return kernel.products * work(kernel.base)
    if isinstance(kernel, DirectedKernel):
        return 2 * work(kernel.base)
    return LOCAL_WORK if isinstance(kernel, LocalPoly) else 1


def _plain(recipe: Recipe, problem: Problem, monitor: Callable | None) -> SVC:
    return _svc(recipe, problem).fit(problem.X_train, problem.y_train, monitor=monitor, source=problem.source)


def _virtual(recipe: Recipe, problem: Problem, monitor: Callable | None) -> VirtualSVC:
    second = None
    if recipe.options:
        kernel = recipe.options.get("second_kernel")
        second = _svc(recipe, problem).set_params(
            kernel=problem.kernel if kernel is None else kernel_from_dict(kernel),
            C=recipe.options.get("second_C", recipe.C),
        )
    estimator = VirtualSVC(
        _svc(recipe, problem),
        jitters=recipe.jitters,
        image_shape=problem.images_shape,
        prepare=problem.last,
        scope=recipe.scope,
        rounds=recipe.rounds,
        second=second,
    )
    return estimator.fit(problem.images, problem.y_train, monitor=monitor)


def _query_jittered(recipe: Recipe, problem: Problem, monitor: Callable | None) -> SVC:
    svc = _plain(recipe, problem, monitor)
    svc.machine_ = query_jittered(svc.machine_, recipe.jitters, problem.image_shape, steps_after_jitter(recipe))
    return svc


def share(recipe: Recipe, problem: Problem) -> Problem:
    """The problem with a Gram source, so that fits which differ in C compute each kernel value once between them."""
    svc, machines = _svc(recipe, problem), len(np.unique(problem.y_train))
    return problem._replace(source=svc.shared_source(problem.X_train, 1 if machines == 2 else machines))


METHODS: dict[str, Callable] = {
    "sv": _plain,
    "vsv": _virtual,
    "jsv": _plain,
    "query-jitter": _query_jittered,
    "tangent": _plain,
}


def _svc(recipe: Recipe, problem: Problem) -> SVC:
    weight = recipe.class_weight
    if isinstance(weight, dict):
        labels = {str(label): label for label in np.unique(problem.y_train).tolist()}
        if unknown := weight.keys() - labels.keys():
            raise RecipeError("class_weight", min(unknown), f"the labels {', '.join(labels)}")
        weight = {labels[name]: w for name, w in weight.items()}
    return SVC(
        problem.kernel,
        C=recipe.C,
        class_weight=weight,
        tol=recipe.tol,
        cache_mb=recipe.cache_mb,
        solver=Digestion(**recipe.options["digestion"]) if "digestion" in recipe.options else recipe.solver,
        random_state=recipe.seed,
    )
