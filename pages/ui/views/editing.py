"""cross-training and editing: training examples are thrown away before the last machine is trained."""

from pages.ui.kit.view import Look, View

THROWN = Look("cross_training", "See discarded examples", "Cross-training", query={"cross_view": "A run"})

VIEW = View(looks=lambda run, others: [*others, THROWN] if "roles" in run.result else others)
