"""sv: one machine on the examples as they are."""

from svmcore.lab.registry.method import Method


class SupportVectors(Method):
    """Plain support vector machines, one for each class against the rest."""

    name = "sv"
    title = "Support vectors"
    short = "SV"
    help = "One machine on the examples as they are."
    source = "Boser, Guyon and Vapnik, COLT (1992)"

    def brief(self, recipe) -> str:
        return ""

    def summary(self, recipe) -> str:
        return ""
