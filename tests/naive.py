"""Slow, obvious oracles: each does in plain NumPy, pair by pair, what the library does fast."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.ndimage import correlate1d
from scipy.optimize import minimize

from svmcore import RBF, Linear, Poly, Sigmoid


def kernel_value(kernel, u, v) -> float:
    """K(u, v) straight from its formula in the papers."""
    dot = sum(float(a) * float(b) for a, b in zip(u, v, strict=True))
    if isinstance(kernel, Linear):
        return dot
    if isinstance(kernel, RBF):
        return math.exp(-kernel.gamma * sum((float(a) - float(b)) ** 2 for a, b in zip(u, v, strict=True)))
    if isinstance(kernel, Sigmoid):
        return math.tanh(kernel.gamma * dot + kernel.coef0)
    assert isinstance(kernel, Poly)
    value = (kernel.gamma * dot + kernel.coef0) ** kernel.degree
    return value / (kernel.gamma + kernel.coef0) ** kernel.degree if kernel.normalised else value


def gram(kernel, A, B) -> np.ndarray:
    """Kernel values of A's rows with B's: (m, n) float64."""
    return np.array([[kernel_value(kernel, u, v) for v in B] for u in A]).reshape(len(A), len(B))


def sums(kernel, X, V, coef) -> np.ndarray:
    """sum_j coef_j K(x_i, v_j) (n,) in float64, one v_j after the other; distances from differences."""
    X, total = np.asarray(X, np.float64), np.zeros(len(X))
    for c, v in zip(coef, np.asarray(V, np.float64), strict=True):
        if isinstance(kernel, RBF):
            total += c * np.exp(-kernel.gamma * ((X - v) ** 2).sum(axis=1))
        else:
            total += c * kernel.value((X * v).sum(axis=1), (X**2).sum(axis=1), (v**2).sum())
    return total


def dual(K, y, alpha) -> float:
    """W(alpha) = sum alpha - 1/2 sum alpha_i alpha_j y_i y_j K_ij."""
    v = alpha * y
    return float(alpha.sum() - 0.5 * v @ K @ v)


def kkt_gap(K, y, C, alpha) -> float:
    """Largest violation: max over I_low of f less min over I_up of f."""
    return gap_of(K @ (alpha * y) - y, y, C, alpha)


def gap_of(f, y, C, alpha) -> float:
    """The same from f (n,)."""
    up = [f[i] for i in range(len(y)) if (y[i] > 0 and alpha[i] < C[i]) or (y[i] < 0 and alpha[i] > 0)]
    low = [f[i] for i in range(len(y)) if (y[i] > 0 and alpha[i] > 0) or (y[i] < 0 and alpha[i] < C[i])]
    return max(low) - min(up) if up and low else 0.0


def virtual_gaps(machine, virtual, X, y) -> list[float]:
    """Of a machine that was trained on virtual examples in one round, the gap of each of its k machines: by values in
    double precision of all forms of the examples that it was trained on, with the support vectors and multipliers that
    it decides with. virtual: the fitted VirtualSVC, which has its jitters, its preparation and each machine's parents.
    """
    gaps, J, n, X = [], len(virtual.jitters_), len(X), X.reshape(len(X), -1)
    base = virtual.base_.machine_ if virtual.base_ else None
    for c, coef in enumerate(machine.coef):
        sign = np.where(y == machine.classes[-1 if len(machine.coef) == 1 else c], 1.0, -1.0)
        parents = np.arange(n)
        if base is not None:
            parents = base.support[(base.coef if virtual.scope == "union" else base.coef[[c]]).any(axis=0)]
        forms = virtual.jitters_.apply(X[parents])
        rows = virtual.prepared(forms.reshape(-1, forms.shape[-1])).astype(np.float64)
        place = {(j, int(p)): j * len(parents) + i for j in range(J) for i, p in enumerate(parents)}
        used = np.flatnonzero(coef)
        alpha, target = np.zeros(len(rows)), np.tile(sign[parents], J)
        at = [place[int(machine.jitter[v]), int(machine.parent[v])] for v in used]
        alpha[at] = coef[used] * target[at]
        f = machine.kernel.exact(rows, machine.support_vectors[used].astype(np.float64)) @ coef[used] - target
        gaps.append(gap_of(f, target, np.full(len(rows), machine.C), alpha))
    return gaps


def qp(K, y, C) -> np.ndarray:
    """The dual by a general optimiser: alpha (n,). For a few dozen examples."""
    Q = K * np.outer(y, y)
    result = minimize(
        lambda a: 0.5 * a @ Q @ a - a.sum(),
        np.minimum(C, 0.5) * 0,
        jac=lambda a: Q @ a - 1,
        bounds=[(0, c) for c in C],
        constraints={"type": "eq", "fun": lambda a: a @ y, "jac": lambda a: y},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    return np.clip(result.x, 0, C)


def ramp_loss(K, y, C, a, b, s) -> float:
    """J of the machine f = K a + b: |w|^2 / 2 + C sum_i min(1 - s, max(0, 1 - y_i f_i)), example by example."""
    f = K @ a + b
    return 0.5 * a @ K @ a + C * sum(min(1 - s, max(0.0, 1 - t * v)) for t, v in zip(y, f, strict=True))


def ramp_round(K, y, C, beta):
    """f (n,) of one round of Collobert et al. (2006), Algorithm 2, by a general optimiser:

    max_a  y' a - a' K a / 2      -beta_i <= y_i a_i <= C - beta_i,  sum a = 0
    """
    low, high = -beta, C - beta
    result = minimize(
        lambda v: 0.5 * (y * v) @ K @ (y * v) - v.sum(),  # v = y a
        np.zeros(len(y)),
        jac=lambda v: y * (K @ (y * v)) - 1,
        bounds=list(zip(low, high, strict=True)),
        constraints={"type": "eq", "fun": lambda v: v @ y, "jac": lambda v: y},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    f, free = K @ (y * result.x), (result.x > low + 1e-4) & (result.x < high - 1e-4) & (beta == 0)
    return f + np.mean((y - f)[free])


def one_pass(K, y, C, order, tol):
    """LASVM (Bordes et al. 2005, section 3.2): alpha (n,) after each example of `order` was seen once."""
    alpha, f = np.zeros(len(y)), -np.asarray(y, float)
    members = {int(np.flatnonzero(y == 1)[0]), int(np.flatnonzero(y == -1)[0])}

    def worst():
        up = [t for t in members if (alpha[t] < C if y[t] > 0 else alpha[t] > 0)]
        low = [t for t in members if (alpha[t] > 0 if y[t] > 0 else alpha[t] < C)]
        return min(up, key=lambda t: f[t]), max(low, key=lambda t: f[t])

    def move(i, j):
        if f[j] - f[i] <= tol:
            return False
        room_i = C - alpha[i] if y[i] > 0 else alpha[i]
        room_j = alpha[j] if y[j] > 0 else C - alpha[j]
        step = min((f[j] - f[i]) / (K[i, i] + K[j, j] - 2 * K[i, j]), room_i, room_j)
        for t, change in ((i, y[i] * step), (j, -y[j] * step)):
            alpha[t] = next((bound for bound in (0, C) if abs(alpha[t] + change - bound) < 1e-12), alpha[t] + change)
        f[:] += step * (K[i] - K[j])
        return True

    def reprocess():
        moved = move(*worst())
        i, j = worst()
        idle = [t for t in members if alpha[t] == 0 and (f[t] >= f[i] if y[t] > 0 else f[t] <= f[j])]
        members.difference_update(idle)
        return moved

    for k in map(int, order):
        if k not in members:
            i, j = worst()
            members.add(k)
            move(*((k, j) if y[k] > 0 else (i, k)))
        reprocess()
    while reprocess():
        pass
    return alpha


class FreeResponse:
    """A search judged by counting: every threshold is tried, every object asked for by name."""

    def __init__(self, scores, hits, picture, tested, n_objects):
        self.detections = [
            (float(s), (int(k), int(h)) if h >= 0 else None, int(k))
            for s, h, k in zip(scores, hits, picture, strict=True)
        ]
        self.tested = [int(k) for k in tested]
        self.n_objects = {int(k): int(n) for k, n in zip(tested, n_objects, strict=True)}

    def resampled(self, times) -> FreeResponse:
        """The search of pictures drawn so many times each, in the order of their numbers; a copy is another picture."""
        copy = FreeResponse([], [], [], [], [])
        for k, count in zip(sorted(self.tested), times, strict=True):
            for i in range(int(count)):
                copy.tested.append((k, i))
                copy.n_objects[k, i] = self.n_objects[k]
                for score, name, at in self.detections:
                    if at == k:
                        copy.detections.append((score, None if name is None else (name, i), (k, i)))
        return copy

    def count(self, threshold) -> tuple[int, int]:
        """False alarms and objects found when detections scoring at least the threshold are shown."""
        shown = [name for score, name, _ in self.detections if score >= threshold]
        return sum(name is None for name in shown), len({name for name in shown if name is not None})

    def rate(self, alarms) -> float:
        """The highest detection rate among all thresholds with at most so many false alarms."""
        n = sum(self.n_objects.values())
        thresholds = [math.inf, *{score for score, _, _ in self.detections}]
        return max(f / n for a, f in map(self.count, thresholds) if a <= alarms)

    def challenge(self) -> float:
        return sum(self.rate(level * len(self.tested)) for level in (1 / 4, 1 / 2, 1, 2, 4, 8)) / 6

    def area(self, up_to: int) -> float:
        """A step function between whole numbers of false alarms: its integral is the sum over them."""
        return sum(self.rate(a) for a in range(up_to)) / up_to


def pooled(image, pool):
    """The mean of each whole pool x pool cell, rounded to the nearest number, halves to the even one."""
    rows, columns = len(image) // pool, len(image[0]) // pool
    out = [[0] * columns for _ in range(rows)]
    for y in range(rows):
        for x in range(columns):
            cell = [int(image[y * pool + i][x * pool + j]) for i in range(pool) for j in range(pool)]
            out[y][x] = round(sum(cell) / len(cell))
    return np.array(out)


def correlation(image, template) -> np.ndarray:
    """Pearson's correlation of the template with the window around every place; nan where it leaves or is flat."""
    side = len(template)
    t = np.asarray(template, float).ravel()
    out = np.full(np.shape(image), np.nan)
    for y in range(side // 2, len(image) - side + side // 2 + 1):
        for x in range(side // 2, len(image[0]) - side + side // 2 + 1):
            w = np.array([image[y - side // 2 + i][x - side // 2 + j] for i in range(side) for j in range(side)], float)
            if w.std() > 0:
                out[y, x] = ((w - w.mean()) * (t - t.mean())).sum() / (w.std() * t.std() * len(t))
    return out


def maxima(values, apart, least) -> list[tuple[int, int]]:
    """Places not below any other within `apart` rows and columns, at least `least`, the highest first; nan are none.

    Of equal ones that near, the first in reading order stays.
    """
    places = [(y, x) for y in range(values.shape[0]) for x in range(values.shape[1])]
    known = np.where(np.isnan(values), -np.inf, values)

    def near(a, b):
        return max(abs(a[0] - b[0]), abs(a[1] - b[1])) <= apart

    tops = [p for p in places if known[p] >= max(least, -1) and all(known[q] <= known[p] for q in places if near(p, q))]
    kept: list[tuple[int, int]] = []
    for p in sorted(tops, key=lambda p: -known[p]):
        if not any(near(p, q) for q in kept):
            kept.append(p)
    return kept


def covered(detection, objects, fits) -> int:
    """The object that fits a detection best: `fits(detection, object)` is a cost, or None where it does not fit."""
    costs = [(fits(detection, o), i) for i, o in enumerate(objects)]
    costs = [(cost, i) for cost, i in costs if cost is not None]
    return min(costs)[1] if costs else -1


def shared_cells(a, b) -> float:
    """Intersection over union of two boxes with whole corners, by counting unit cells."""
    cells = [{(x, y) for x in range(int(c[0]), int(c[2])) for y in range(int(c[1]), int(c[3]))} for c in (a, b)]
    union = cells[0] | cells[1]
    return len(cells[0] & cells[1]) / len(union) if union else 0.0


def expansion_rho(kernel, X, coef, Z, gamma) -> float:
    """| sum_i coef_i phi(x_i) - sum_j gamma_j phi(z_j) |^2, pair by pair."""
    points = [(c, x) for c, x in zip(coef, X, strict=True)] + [(-g, z) for g, z in zip(gamma, Z, strict=True)]
    return sum(a * b * kernel_value(kernel, u, v) for a, u in points for b, v in points)


def smallest_rho(kernel, X, coef, Z, moving=False):
    """rho (k,) for the best weights of fixed vectors Z; their sum where the vectors move too, by scipy's L-BFGS with
    numerical gradients. For a dozen examples."""

    def best(Z):
        p, B = coef @ gram(kernel, X, Z), gram(kernel, Z, Z)
        own = np.einsum("ci,ij,cj->c", coef, gram(kernel, X, X), coef)
        return own - np.einsum("cj,cj->c", p, np.linalg.lstsq(B, p.T, rcond=1e-12)[0].T)

    if not moving:
        return best(Z)
    return minimize(lambda flat: best(flat.reshape(Z.shape)).sum(), np.ravel(Z), method="L-BFGS-B").fun


def best_cut(f, y) -> int:
    """The fewest errors of any threshold on f (n,) for labels y (n,) of 0 and 1."""
    cuts = [-np.inf, *((a + b) / 2 for a in f for b in f), np.inf]
    return min(int(np.sum((np.asarray(f) > cut) != y)) for cut in cuts)


def nearest_label(x, X, label, without=-1, k=1):
    """The vote of the k nearest examples but one; of classes with as many votes that of the nearest."""
    apart = sorted((sum((float(a) - float(b)) ** 2 for a, b in zip(x, X[j], strict=True)), j) for j in range(len(X)))
    near = [label[j] for _, j in apart if j != without][:k]
    votes = [near.count(name) for name in near]
    return near[votes.index(max(votes))]


def edited_nn(X, label, k) -> list[bool]:
    """Wilson: who stays."""
    return [nearest_label(X[i], X, label, without=i, k=k) == label[i] for i in range(len(X))]


def multiedit(X, label, rng, n_splits, patience) -> list[int]:
    """Devijver and Kittler: who stays, with the splits that `rng` draws."""
    left, quiet = list(range(len(X))), 0
    while quiet < patience and len(left) >= n_splits:
        splits = np.array_split(rng.permutation(np.array(left)), n_splits)
        stay = []
        for s, part in enumerate(splits):
            teacher = splits[(s + 1) % n_splits]
            stay += [i for i in part if nearest_label(X[i], X[teacher], [label[t] for t in teacher]) == label[i]]
        quiet = quiet + 1 if len(stay) == len(left) else 0
        left = sorted(int(i) for i in stay)
    return left


def condense(X, label, order) -> list[int]:
    """Hart: the condensed set, passing over the examples in an order whose first one begins it."""
    R, changed = [order[0]], True
    while changed:
        changed = False
        for i in order:
            if i not in R and nearest_label(X[i], X[R], [label[r] for r in R]) != label[i]:
                R.append(i)
                changed = True
    return sorted(int(i) for i in R)


def threshold(f, y) -> float:
    """The largest share of right signs that any shift of the decision values gives."""
    values = sorted(map(float, f))
    cuts = [values[0] - 1, *((a + b) / 2 for a, b in itertools.pairwise(values)), values[-1] + 1, 0.0]
    return max(sum((v > cut) == (t > 0) for v, t in zip(f, y, strict=True)) / len(y) for cut in cuts)


def cross_training_roles(margins, classes, validation, balance) -> list[str]:
    """Algorithm 3 from the margins y_i f_j(x_i) (s, n): what becomes of each example."""
    s, n = len(margins), len(margins[0])
    roles, ease = [], []
    for i in range(n):
        m = sum(margins[j][i] for j in range(s)) / s
        v = sum((m - margins[j][i]) ** 2 for j in range(s)) / s
        roles.append(
            "validation" if i in validation else "wrong side" if m + v < 0 else "easy" if m - v > 1 else "kept"
        )
        ease.append(m - v)
    count = {c: sum(roles[i] == "kept" and classes[i] == c for i in range(n)) for c in set(classes)}
    fewer, more = sorted(count, key=lambda c: count[c])
    if balance:
        easy = sorted((ease[i], i) for i in range(n) if roles[i] == "easy" and classes[i] == fewer)
        for _, i in easy[: count[more] - count[fewer]]:
            roles[i] = "reinserted"
    return roles


def label_odds(f, given, s, rate, q) -> np.ndarray:
    """Log odds that each label is wrong (explain/suspects.py), class by class."""
    odds = []
    for values, z in zip(np.asarray(f, np.float64), given, strict=True):
        P = [math.exp(s * v) for v in values]
        wrong = 0.0
        for y in range(len(P)):
            if y != z:
                others = sorted((c for c in range(len(P)) if c != y), key=lambda c: -values[c])
                wrong += q[others.index(z)] * P[y]
        odds.append(math.log(rate * wrong / ((1 - rate) * P[z])))
    return np.array(odds)


def copies(X) -> list[int]:
    """For each row the first one that equals it."""
    return [next(j for j in range(i + 1) if (X[j] == X[i]).all()) for i in range(len(X))]


def kernel_distances(kernel, X) -> np.ndarray:
    """sqrt(K_ii + K_jj - 2 K_ij) (n, n)."""
    K = gram(kernel, X, X)
    return np.array(
        [[math.sqrt(max(K[i, i] + K[j, j] - 2 * K[i, j], 0)) for j in range(len(X))] for i in range(len(X))]
    )


def next_ones(f, m, X=None, reach=2):
    """Which of the rows of decision values f (p, k) to ask for: the m of the smallest lead; with X (p, d) spread."""
    leads = []
    for i in range(len(f)):
        values = sorted(f[i].tolist())
        leads.append(abs(values[0]) if len(values) == 1 else values[-1] - values[-2])
    order = sorted(range(len(f)), key=lambda i: (leads[i], i))
    if X is None or m < 2 or len(order) <= m:
        return order[:m]
    taken, left = [order[0]], order[1 : reach * m]
    while len(taken) < m:
        apart = [min(sum((X[i] - X[j]) ** 2) for j in taken) for i in left]
        taken.append(left.pop(apart.index(max(apart))))
    return taken


def machine_of(recipe, problem, positions):
    """The machine that a recipe trains on these of its training examples alone."""
    from svmcore.lab.solvers import svc

    return svc(recipe, problem).fit(problem.X_train[positions], problem.y_train[positions])


def gradient_histograms(
    image, cells, directions=8, smoothing=0.45, power=0.5, block=0, margin=0, signed=1, sobel=1, shared=1
) -> np.ndarray:
    """Of one image (h, w) with a dark background, cell by cell and pixel by pixel: (d,) float64."""
    image = np.pad(np.asarray(image, np.float64), margin)
    (h, w), across = image.shape, np.array([1, 2, 1]) if sobel else np.array([0, 1, 0])
    down = correlate1d(correlate1d(image, [-1, 0, 1], axis=0), across, axis=1, mode="nearest")
    right = correlate1d(correlate1d(image, [-1, 0, 1], axis=1), across, axis=0, mode="nearest")
    down[[0, -1]], right[:, [0, -1]] = 0, 0
    total = np.zeros((cells, cells, directions))
    for a, b in itertools.product(range(cells), repeat=2):
        weights = np.outer(_of_cell(h, cells, a, smoothing), _of_cell(w, cells, b, smoothing))
        for y, x in itertools.product(range(h), range(w)):
            at = math.degrees(math.atan2(down[y, x], right[y, x])) / (360 if signed else 180) * directions
            for k in range(directions):
                round_it = abs((at - k + directions / 2) % directions - directions / 2)
                share = max(0, 1 - round_it) if shared else math.floor(at) % directions == k
                total[a, b, k] += weights[y, x] * share * math.hypot(down[y, x], right[y, x])
    total **= power
    if not block:
        return total.ravel()
    corners = itertools.product(range(cells - block + 1), repeat=2)
    blocks = [total[a : a + block, b : b + block].ravel() for a, b in corners]
    return np.concatenate([one / math.sqrt((one**2).sum() + 1e-10) for one in blocks])


def _of_cell(side, cells, a, smoothing) -> np.ndarray:
    """What each pixel along a side counts in cell a."""
    at, width = np.arange(side), side / cells
    if not smoothing:
        inside = (at >= round(a * width)) & (at < round((a + 1) * width))
        return inside / inside.sum()
    weights = np.exp(-(((at - (a + 0.5) * width + 0.5) / (smoothing * width)) ** 2) / 2)
    return weights / weights.sum()
