"""Speed: what a support vector costs at every decision, and how digestion spares the solver some work.

References: DeCoste and Schölkopf, Machine Learning 46 (2002), section 4.
"""

from pages.lessons import seen
from pages.lessons.machines import DIGESTED, HARD, HARD_VIRTUAL, PAGED, ROWS, SOFT, UNDIGESTED
from pages.lessons.parts import Facts, Lesson, Source, Step, Verdict, View
from pages.ui.kit.words import percent


def terms(facts: Facts) -> Verdict:
    n = facts.n_sv("soft")
    return Verdict(
        2,
        f"{n} comparisons. The decision is a sum with one term for each support vector, so a machine with half as many "
        f"decides twice as fast. The other {facts.run('soft').result['n_train'] - n} training digits are no "
        "longer needed.",
    )


def smaller(facts: Facts) -> Verdict:
    a, b = facts.n_sv("soft"), facts.n_sv("hard")
    return Verdict(
        seen.against(b, a),
        f"{b} instead of {a}. With a small C an error is cheap. Therefore many digits may lie inside the margin, and "
        "each of them is a support vector.",
    )


def no_worse(facts: Facts) -> Verdict:
    a, b = facts.errors("soft"), facts.errors("hard")
    both = b <= a
    return Verdict(
        0 if both else 1,
        f"{b} of {facts.n_test('hard'):,} are wrong, {a} were with the small C. "
        f"{'Faster and better at once: that C was too small.' if both else 'Faster, but worse.'}",
    )


def price(facts: Facts) -> Verdict:
    a, b = facts.n_sv("hard"), facts.n_sv("virtual")
    return Verdict(
        0 if b <= a else 1 if b <= 3 * a else 2,
        f"{b} comparisons instead of {a}, {b / a:.1f} times as many. {facts.errors('virtual')} digits are wrong, "
        f"{facts.errors('hard')} were before. Every decision pays for the knowledge of the virtual SVs.",
    )


def bulge(facts: Facts) -> Verdict:
    run = facts.run("undigested")
    most, end = max(line["n_sv"] for line in run.progress()), run.result["n_union"]
    return Verdict(
        0 if most <= end else 1,
        f"At most it holds {most} support vectors, in the end {end}. Digits that come early look important until "
        "better ones replace them. Meanwhile each of them costs time and memory.",
    )


def spared(facts: Facts) -> Verdict:
    on, off = (facts.run(name).result["kernel_evals"] for name in ("digested", "undigested"))
    change = (off - on) / off
    saved = percent(abs(change))
    said = f"It saves {saved} of the comparisons" if change > 0 else f"It costs {saved} more comparisons"
    return Verdict(
        0 if change > 0 else 1,
        f"{said}, and both end at almost the same machine. These are few digits. On 60,000 digits the paper saves far "
        "more, because the bulge does not fit into memory there.",
    )


def page(facts: Facts) -> dict:
    return {"set": "mnist-5k", "copies": "none", "rows": ROWS, "n": PAGED.n_train, "seed": facts.seed}


LESSON = Lesson(
    "speed",
    "Speed: digestion and smaller machines",
    "What makes a machine slow, how C changes that, and what a solver does about it while it learns.",
    Source("4"),
    {"soft": SOFT, "hard": HARD, "virtual": HARD_VIRTUAL, "digested": DIGESTED, "undigested": UNDIGESTED},
    (
        Step(
            View("support_vectors", {}, "soft", outlined="sv_numbers"),
            "This machine says whether a digit is an 8. It learned from 500 digits and keeps some of them, the "
            "*support vectors*: their number is on the page. With how many pictures does it compare a new digit?",
            ("With one: the most similar", "With all 500", "With each support vector"),
            View("support_vectors", {}, "soft", outlined="sv_numbers"),
            "the number *Support vectors*.",
            terms,
        ),
        Step(
            View("support_vectors", {}, "soft", outlined="sv_numbers"),
            lambda facts: (
                f"It keeps {facts.n_sv('soft')}. It was trained with C = {SOFT.C:g}; C limits how much one error "
                "counts. Another machine is trained with C = 10. How many support vectors will it keep?"
            ),
            seen.FEWER_OR_MORE,
            View("support_vectors", {}, "hard", outlined="sv_numbers"),
            "the number *Support vectors*; *Bounded (α = C)* counts those inside the margin.",
            smaller,
        ),
        Step(
            View("errors", {}, "soft"),
            lambda facts: (
                f"A smaller machine is faster. Is it worse? With C = {SOFT.C:g}, {facts.errors('soft')} of "
                f"{facts.n_test('soft'):,} new digits are wrong. With C = 10:"
            ),
            ("At most as many", "More"),
            View("errors", {}, "hard", outlined="errors_line"),
            "the line in large type, *wrong*.",
            no_worse,
        ),
        Step(
            View("errors", {}, "hard"),
            "Virtual SVs, shifted copies of the support vectors, often correct errors. What do they cost at each "
            "decision?",
            ("Nothing", "Up to three times as many comparisons", "More than three times as many"),
            View("support_vectors", {"order": "By parent"}, "virtual", outlined="sv_numbers families"),
            "the number *Support vectors*, and the families of copies that were kept.",
            price,
            ("hard",),
        ),
        Step(
            View("support_vectors", {}, "hard"),
            "Now the training. The solver looks at 2,000 digits one after the other. While it works, does it ever hold "
            "more support vectors than it ends with?",
            ("No, they only grow", "Yes, they bulge"),
            View("digestion", page, "undigested", outlined="race"),
            "the chart *Without*: it peaks above its final value.",
            bulge,
            ("digested",),
        ),
        Step(
            View("digestion", page, "undigested"),
            "*Digestion* leaves a pass early and optimises the examples that it has before it takes in more. The chart "
            "*With digestion* peaks lower. Does it save comparisons here?",
            ("Yes", "No"),
            View("digestion", page, "undigested", outlined="digestion_told"),
            "the column *Kernel evaluations* (each is one comparison), and the sentence above the chart.",
            spared,
            ("digested",),
        ),
    ),
    (
        "A decision costs one comparison for each support vector.",
        "A C that is too small makes a machine slow and worse at once.",
        "Digestion keeps the number of support vectors small while the machine is still learning.",
    ),
    (
        "On *Digestion*, halve the memory (*rows*). How does the gain change?",
        View("digestion"),
    ),
)
