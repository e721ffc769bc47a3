"""Retraining without some examples of 4,000 digits, ten machines of degree 9: what a click costs, and leave-one-out.

python -m tests.bench.without
"""

import time
from functools import partial

import numpy as np

from data import load
from svmcore import SVC, Poly, Preprocessor, Retraining
from svmcore.explain.value import values

N, TRIES = 4000, 15


def seconds(work, tries=1) -> str:
    """Median, least and most."""
    taken = []
    for _ in range(tries):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return f"{np.median(taken):.2f} ({min(taken):.2f} to {max(taken):.2f})"


def drawn(support, size: int, rng) -> list[int]:
    """Some support vectors."""
    return rng.permutation(support)[:size].tolist()


def main():
    digits, rng = load("mnist-5k"), np.random.default_rng(0)
    X = Preprocessor("unit-norm", image_shape=(28, 28)).fit_transform(digits.X_train)
    order = rng.permutation(len(X))
    train, held = order[:N], order[N:]
    examples = X[train], digits.y_train[train]
    machine = SVC(Poly(9, 1, 1), C=2).fit(*examples)
    retraining = Retraining(machine, *examples)
    print("training            ", seconds(lambda: SVC(Poly(9, 1, 1), C=2).fit(*examples), 3))
    print("set-up              ", seconds(lambda: Retraining(machine, *examples), 3))
    for size in (1, 10, 100):
        draw = partial(drawn, machine.support_, size, rng)
        print(f"without {size:<12}", seconds(lambda draw=draw: retraining.changed(draw()), TRIES))
        change = lambda draw=draw: retraining.changed(labels={i: (examples[1][i] + 1) % 10 for i in draw()})  # noqa: E731
        print(f"other labels {size:<7}", seconds(change, TRIES))
    K = machine.kernel_.block(X[held], X[train])
    for c in range(10):
        n = np.count_nonzero(retraining.alpha[c])
        worth = seconds(lambda c=c: list(values(retraining, K, digits.y_train[held], c)))
        print(f"leaving out {n} of digit {c}: {worth}")


if __name__ == "__main__":
    main()
