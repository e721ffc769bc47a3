"""The settings of detection: of every finder, of the matched filter, of the scan and its bootstrapping."""

from svmcore.lab.registry.fields import FACTORS, FLAG, LINE, Field, choice, numeric

NAMES = {"matched": "A matched filter, at one scale", "scan": "Every window, at every scale"}

FIELDS = (
    Field("experiment", LINE, None, "Experiment", "Which pictures train and which test.", "the first", shown=False),
    Field("finder", choice(NAMES, str), "matched", "Candidates from", "What looks over a whole picture."),
    Field("chip", numeric(5, 63, whole=True), 15, "Chip", "Pixels of a window's side, as the machine sees it."),
    Field("pool", numeric(1, 8, whole=True), 2, "Pooled", "Matched filter: pixels averaged, each way."),
    Field(
        "miss_rate", numeric(0, 0.9), 0.05, "Miss rate",
        "Matched filter: share of the training objects that it may miss.", step=0.01,
    ),
    Field(
        "reach", numeric(0, 500), 13.0, "Reach, pixels",
        "Matched filter: how far from an object's centre a candidate covers it, where its radius is less.",
    ),
    Field(
        "category_weight", FACTORS, None, "Weight of doubtful labels",
        'Matched filter: factors of C by the label\'s category, 0 to leave it out: {"3":0.5,"4":0}.',
        "1 for each category", shown=False,
    ),
    Field(
        "strongest", FLAG, False, "The strongest alone",
        "Matched filter: of the candidates that cover one object the strongest alone trains; others, which often show "
        "its flank, are left out.", shown=False,
    ),
    Field("stride", numeric(1, 9, whole=True), 2, "Stride", "Scan: pixels from one window to the next."),
    Field("scale_step", numeric(1.05, 2), 1.2, "Scale step", "Scan: from one scale to the next larger.", step=0.05),
    Field("enlarge", numeric(0.5, 4), 1.25, "Enlarged", "Scan: how much larger than the picture it begins.", step=0.25),
    Field(
        "grow", numeric(1, 4), None, "Grown", "Scan: an object's side over that of the window inside it.",
        "as the set's windows are cut", step=0.1,
    ),
    Field(
        "overlap", numeric(0.1, 0.9), 0.3, "Overlap",
        "Scan: intersection over union from which an object counts as found.", step=0.1,
    ),
    Field(
        "lost", numeric(0, 0.5), None, "Quick look loses", "Scan: share of objects that a first quick look may lose.",
        "no quick look", step=0.005,
    ),
    Field(
        "floor", numeric(-10, 10), -0.5, "Floor",
        "Scan: f from which a window is kept as a candidate, or as a false alarm to learn from.", step=0.1,
    ),
    Field(
        "votes", numeric(0, 10), None, "Votes",
        "Scan: what the logarithm of the number of windows on one place adds to f.", "nothing", step=0.1,
    ),
    Field(
        "bootstraps", numeric(0, 9, whole=True), 0, "Bootstrapping rounds",
        "Scan: how often its false alarms on pictures without objects join the training examples.",
    ),
    Field("mined", numeric(1, 100_000, whole=True), 5000, "Mined", "Scan: false alarms that a round adds, at most."),
    Field(
        "turned", FLAG, False, "Mined turned", "Scan: pictures without objects are searched on their sides, too.",
    ),
)  # fmt: skip
