"""nu-sv: the same machine, told by nu, the share of margin errors, instead of C."""

from svmcore.lab.fields import Field, numeric
from svmcore.lab.methods.sv import LOSS, SupportVectors
from svmcore.lab.solvers import nu_svc

NU = Field(
    "nu", numeric(0, 1), 0.5, "nu",
    "At most this share of the training examples lies inside the margin. At least this share becomes support vectors.",
    step=0.05,
)  # fmt: skip


class NuSupportVectors(SupportVectors):
    """Support vector machines in the nu formulation."""

    name = "nu-sv"
    title = "Support vectors, by nu"
    short = "nu-SV"
    help = "One machine trained on the examples themselves; nu, a share of them, replaces C."
    source = "Schölkopf, Smola, Williamson and Bartlett, Neural Computation 12 (2000)"
    tasks, bounded = ("classify",), False
    unlike = "nu-SVC would find another C when examples are excluded"
    fields = (NU, *(field for field in SupportVectors.fields if field is not LOSS))
    parameter = "nu"

    def machine(self, recipe, problem):
        return nu_svc(recipe, problem, recipe.option("nu"))

    def brief(self, recipe) -> str:
        return f"nu = {recipe.option('nu'):g}"

    def summary(self, recipe) -> str:
        return f"{self.title} · nu = {recipe.option('nu'):g}"
