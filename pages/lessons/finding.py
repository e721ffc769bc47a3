"""Finding objects in pictures: windows, thresholds, the FROC curve, and why the ROC curve is the wrong one.

References: Osuna, Freund and Girosi, MIT AI memo 1602 (1997), section 4; DeCoste and Schölkopf (2002), section 5.2.
"""

from data import pictures
from pages.lessons.machines import FOUND
from pages.lessons.parts import Facts, Lesson, Source, Step, Verdict, View
from pages.ui.kit.words import percent

SIDE = 15  # of a window, in pixels
LOOSE = 100  # false alarms over all pictures
ONE_IN = 100  # windows taken wrongly, for the question about ROC curves


def windows(facts: Facts) -> int:
    """Of one picture, one at every pixel where a window fits."""
    height, width = pictures.entry(FOUND.dataset).load().pictures[0].image.shape[:2]
    return (height - SIDE + 1) * (width - SIDE + 1)


def result(facts: Facts) -> dict:
    return facts.run("found").result


def looked(facts: Facts) -> Verdict:
    n, of = windows(facts), result(facts)
    return Verdict(
        0 if n < 3000 else 1 if n < 30_000 else 2,
        f"{n:,} windows in one picture, at one size. A fast filter looks at all of them first and leaves "
        f"{of['candidates']:,} candidates in {of['pictures']} pictures for the machine. Faces are searched at many "
        "sizes, which makes even more windows.",
    )


def looser(facts: Facts) -> Verdict:
    of = result(facts)
    before = of["offset"]["found"]
    after = round(of["machines"]["machine"]["rates"][str(LOOSE)] * of["n_test"])
    return Verdict(
        0 if after <= before else 1 if after <= 1.25 * before else 2,
        f"{after} of {of['n_test']} are detected with {LOOSE} false alarms in all; at offset 0, where training put the "
        f"threshold, {before} with {of['offset']['alarms']}. A threshold trades misses for false alarms; the machine "
        "is the same.",
    )


def beside(facts: Facts) -> Verdict:
    rates = {name: of["rates"]["10"] for name, of in result(facts)["machines"].items()}
    machine, matched = rates["machine"], rates["matched filter"]
    return Verdict(
        0 if machine > matched else 1,
        f"With 10 false alarms in all pictures together the machine detects {percent(machine)}, the matched filter "
        f"{percent(matched)}. The curve shows it for every threshold at once: higher is better.",
    )


def per_picture(facts: Facts) -> int:
    return round(windows(facts) / ONE_IN)


def useless(facts: Facts) -> Verdict:
    n = per_picture(facts)
    return Verdict(
        0 if n < 30 else 1 if n < 300 else 2,
        f"About {n:,}. Nearly all windows show nothing, so one in a hundred is far too many. A ROC curve has that "
        "share on its axis and would look nearly perfect. The FROC curve counts false alarms per picture, which is "
        "what whoever checks them has to do.",
    )


def sure(facts: Facts) -> Verdict:
    (a, b), (c, d) = (result(facts)["machines"][name]["interval"] for name in ("machine", "Gaussian"))
    overlap = a <= d and c <= b
    return Verdict(
        0 if overlap else 1,
        f"95 % intervals of the mean detection rate: machine {a:.2f} to {b:.2f}, Gaussian {c:.2f} to {d:.2f}. They "
        f"come from drawing the {result(facts)['pictures']} pictures again and again, as objects of one picture "
        "resemble each other.",
    )


PICTURE = View("detect", {}, "found", outlined="detect_picture")
CURVE = View("detect", {}, "found", outlined="froc")
LESSON = Lesson(
    "finding",
    "Finding faces, or volcanoes",
    "How a machine that classifies small windows detects objects in large pictures, and how that is measured.",
    Source("4", "osuna"),
    {"found": FOUND},
    (
        Step(
            PICTURE,
            f"To find a volcano, or a face, a machine classifies small windows: here {SIDE} by {SIDE} pixels. How many "
            "windows does one of these pictures have, if there is one at every pixel?",
            ("About 1,000", "About 10,000", "About 100,000 or more"),
            PICTURE,
            "the picture: every mark is one window out of all of them.",
            looked,
        ),
        Step(
            PICTURE,
            lambda facts: (
                f"The machine detects {result(facts)['offset']['found']} of {result(facts)['n_test']} volcanoes with "
                f"{result(facts)['offset']['alarms']} false alarms, in all pictures together. We lower the threshold "
                f"until there are {LOOSE} false alarms. How many are detected then?"
            ),
            ("Not more", "Up to a quarter more", "More than a quarter more"),
            View(
                "detect",
                lambda facts: {"fa": f"{LOOSE / result(facts)['pictures']:.4g}"},
                "found",
                "detect_picture froc",
            ),
            "the crosses in the picture, which are false alarms, and the dot on the curve.",
            looser,
        ),
        Step(
            PICTURE,
            "The matched filter is a simple baseline: it compares each window with the mean of all volcanoes. With 10 "
            "false alarms in all pictures, which detects more?",
            ("The machine", "The matched filter"),
            CURVE,
            "the curves, at the left. The vertical axis is the share of volcanoes that is detected.",
            beside,
        ),
        Step(
            CURVE,
            "A detector takes one window in a hundred for a volcano where there is none. So 99 % of these windows are "
            "classified correctly. How many false alarms is that in one picture?",
            ("About 10", "About 100", "About 1,000 or more"),
            CURVE,
            "the horizontal axis: false alarms per picture. That detector would be far to the right.",
            useless,
        ),
        Step(
            CURVE,
            "The Gaussian is another baseline. Its curve lies lower. Do the 95 % intervals of the two mean detection "
            "rates overlap?",
            ("Yes", "No"),
            CURVE,
            "the shaded band around the curve, and the table below it.",
            sure,
        ),
    ),
    (
        "A detector classifies very many windows, of which almost none holds an object.",
        "The threshold trades misses for false alarms; a curve shows all thresholds, one number shows one.",
        "Count false alarms per picture (FROC): as a share of windows (ROC) they look harmless.",
    ),
    (
        "On *Detect*, move the operating point until there is one false alarm per picture, and click a miss: why was "
        "it missed?",
        View("detect"),
    ),
)
