"""Margin and capacity: how much a machine could fit, what theory promises then, and what is observed.

References: Vapnik, The Nature of Statistical Learning Theory (1995); DeCoste and Schölkopf (2002), section 5.
"""

from pages.lessons import plane, seen
from pages.lessons.machines import BY_DEGREE, DEGREES
from pages.lessons.parts import Facts, Lesson, Source, Step, Verdict, View
from pages.ui.kit.words import percent
from pages.ui.play.solve import picture
from pages.ui.recipe import config

NOISY = {"problem": "banana", "C": 10_000.0, "noise": 0.1}
STIFF = NOISY | {"kernel": "poly", "degree": 2}
SUPPLE = NOISY | {"kernel": "rbf", "gamma": 20.0}
EVERY = tuple(f"d{degree}" for degree in DEGREES)
MIDDLE = EVERY[1]
TITLES = {"leave_one_out": "leave-one-out", "radius_margin": "radius and margin", "vc": "the VC bound"}


def wrong(facts: Facts) -> list[tuple[int, int]]:
    """Of both machines the errors on their own points, and on 400 new ones."""
    machines = [picture(plane.setting(facts, **changes)) for changes in (STIFF, SUPPLE)]
    return [(len(machine.wrong), machine.fresh_wrong) for machine in machines]


def fits(facts: Facts) -> Verdict:
    (a, _), (b, _) = wrong(facts)
    return Verdict(
        seen.against(b, a),
        f"{b} of these 60 points are wrong now, {a} were with degree 2. The line winds around single points, also "
        "around those whose colour was flipped.",
    )


def generalises(facts: Facts) -> Verdict:
    (_, a), (_, b) = wrong(facts)
    end = "It had followed the flipped colours." if b > a else "Here that did no harm; try another seed."
    return Verdict(seen.against(b, a), f"{b} of 400 new points are wrong, {a} with degree 2. {end}")


def held_out(facts: Facts) -> list[int]:
    return [facts.run(name).result["validation"]["errors"] for name in EVERY]


def digits(facts: Facts) -> Verdict:
    errors = held_out(facts)
    told = ", ".join(f"{n} for degree {degree}" for degree, n in zip(DEGREES, errors, strict=True))
    n = facts.run(MIDDLE).result["n_train"]
    return Verdict(
        errors.index(max(errors)),
        f"Errors on {n} digits, each held out once: {told}. The number of coefficients alone does not decide: the "
        "margin limits which of all these functions the machine can choose.",
    )


def estimates(facts: Facts) -> dict[str, float]:
    """Way -> error rate that it gives, of the machine of the middle degree."""
    bounds = facts.run(MIDDLE).result["bounds"]
    return {way: bounds[way]["errors"] / bounds[way]["n"] for way in TITLES}


def promise(facts: Facts) -> Verdict:
    rate = estimates(facts)["vc"]
    return Verdict(
        0 if rate < 0.1 else 1 if rate < 0.5 else 2,
        f"It says: at most {percent(rate)}. The bound is true and says little: it holds for every distribution of "
        f"digits, also for the worst. Observed: {percent(facts.run(MIDDLE).result['error_rate'], 1)}.",
    )


def nearest(facts: Facts) -> Verdict:
    rates, observed = estimates(facts), facts.run(MIDDLE).result["error_rate"]
    told = ", ".join(f"{title} {percent(rates[way], 1)}" for way, title in TITLES.items())
    return Verdict(
        min(range(3), key=lambda at: abs(list(rates.values())[at] - observed)),
        f"{told[0].upper()}{told[1:]}; observed on {facts.n_test(MIDDLE)} new digits: {percent(observed, 1)}. An "
        "estimate leaves out a digit and looks; a bound must hold in the worst case.",
    )


def sweep(facts: Facts) -> dict:
    base = BY_DEGREE.base.replace(seed=facts.seed)
    return config.link(base) | {"over": BY_DEGREE.field, "value": list(BY_DEGREE.values)}


PLANE = View("playground", plane.address(**STIFF), outlined="play_plane play_figures")
CHART = View("sweep", sweep, MIDDLE, outlined="sweep_chart")
LESSON = Lesson(
    "capacity",
    "Margin and capacity",
    "Why a machine that could fit anything need not, and what theory promises about it.",
    Source("1", "osuna"),
    {
        name: recipe.replace(title=f"3 against 8, degree {name[1:]}")
        for name, recipe in zip(EVERY, BY_DEGREE.recipes().values(), strict=True)
    },
    (
        Step(
            PLANE,
            "Some colours of these 60 points are flipped, as if by mistake. The line is a curve of degree 2. With the "
            "RBF kernel and gamma = 20 it may wind around every point. How many of these points will be wrong then?",
            seen.FEWER_OR_MORE,
            View("playground", plane.address(**SUPPLE), outlined="play_plane play_figures"),
            "the number *Errors on these 60*, and the way the line runs.",
            fits,
        ),
        Step(
            PLANE,
            "Degree 2 again, and 400 new points that no machine has seen, their colours not flipped. Compared with "
            "degree 2, how many of these does the winding line get wrong?",
            seen.FEWER_OR_MORE,
            View("playground", plane.address(**SUPPLE), outlined="play_figures"),
            "the number *Errors on 400 new*, and its change.",
            generalises,
        ),
        Step(
            View("playground", plane.address(**SUPPLE)),
            "Now digits: 3 against 8, 200 of them, with 784 pixels. A polynomial of degree 9 of 784 numbers has "
            "more than 10 to the power of 20 coefficients. Which degree makes the most errors on held-out digits?",
            tuple(f"Degree {degree}" for degree in DEGREES),
            CHART,
            "the chart, line *validation*, degree 1, 3 and 9.",
            digits,
            EVERY,
        ),
        Step(
            CHART,
            "VC theory measures capacity by the margin and by the radius of the data. From the 200 training digits "
            "alone it bounds the error rate on new digits, with a probability of 95 %. What does it say for degree 3?",
            ("At most 10 %", "At most something between 10 and 50 %", "At most something above 50 %"),
            CHART,
            "the chart, line *VC*: it is far above the others.",
            promise,
            EVERY,
        ),
        Step(
            CHART,
            "Three ways to judge degree 3 from the training digits alone. Which comes nearest to the errors on new "
            "digits?",
            ("Leave one digit out, and ask the others", "The bound by radius and margin", "The VC bound"),
            CHART,
            "the chart: the line *test* and the lines of the three ways.",
            nearest,
            EVERY,
        ),
    ),
    (
        "A machine that can bend more fits its own points better; whether it errs less on new ones is another "
        "question.",
        "A large margin limits what a machine can choose, however many coefficients it has.",
        "A bound is true for the worst case; to know how a machine does, ask it about examples that it has not seen.",
    ),
    (
        "Draw two colours that no line separates, then raise the degree until no point is wrong. Would you trust that "
        "line?",
        View("playground", {"problem": "own", "kernel": "poly"}),
    ),
)
