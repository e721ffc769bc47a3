"""Laws of svmcore.jitter: exact identities and compositions, what each jitter does, and the language's errors."""

import numpy as np
import pytest

from svmcore.jitter import JitterSet, seeded
from svmcore.kernels import RBF
from svmcore.lab import Recipe, train
from tests.cases import all_cases


def blobs(n=5, h=14, w=11, c=None, seed=0, empty=3):
    """Random float32 ink (n, h, w[, c]) with `empty` pixels of ground around it."""
    rng = np.random.default_rng(seed)
    shape = (n, h, w) if c is None else (n, h, w, c)
    images = np.zeros(shape, np.float32)
    inner = (slice(None), slice(empty, h - empty), slice(empty, w - empty))
    images[inner] = rng.uniform(0.1, 1, images[inner].shape)
    return images


def jittered(text, images, **kwargs):
    """All jittered forms as images (J, n, h, w[, c])."""
    stack = JitterSet.parse(text).apply(images, **kwargs)
    p = 2 * kwargs.get("pad", 0)
    return stack.reshape(*stack.shape[:2], images.shape[1] + p, images.shape[2] + p, *images.shape[3:])


def naive_shift(image, dy, dx, border):
    """One pixel at a time: what comes from outside is 0, or the nearest pixel of the image."""
    h, w = image.shape[:2]
    out = np.zeros_like(image)
    for y in range(h):
        for x in range(w):
            r, s = y - dy, x - dx
            if border == "edge":
                out[y, x] = image[np.clip(r, 0, h - 1), np.clip(s, 0, w - 1)]
            elif 0 <= r < h and 0 <= s < w:
                out[y, x] = image[r, s]
    return out


@pytest.mark.parametrize("border", ["background", "edge"])
@pytest.mark.parametrize("c", [None, 3])
def test_shifts_agree_with_moving_one_pixel_at_a_time(border, c):
    images = blobs(c=c, empty=1)
    js = JitterSet.parse(f"shift:1,-2;0,3;-4,0@{border}")
    assert js.offsets.tolist() == [[0, 0], [1, -2], [0, 3], [-4, 0]]
    for got, (dy, dx) in zip(jittered(str(js), images), js.offsets):
        np.testing.assert_array_equal(got, [naive_shift(image, dy, dx, border) for image in images])


@all_cases(
    ("text", "count"),
    [("none", 1), ("box:1", 9), ("box:2", 25), ("plus:1", 5), ("plus:2", 9), ("vsv2", 13), ("rot:-10,10", 3),
     ("scale:0.9,1.1", 3), ("shear:0.2", 2), ("thick:0.5", 3), ("contour:0.5,2", 5), ("flip:h,v", 3),
     ("elastic:1,4,3", 4), ("rot:0", 1),
     ("box:1*thick:0.5", 27), ("box:1+rot:-8,8", 11), ("box:1*box:1", 25), ("(box:1+rot:8)*flip:h", 20),
     ("rot:-5,5*rot:-5,5", 5), ("flip:h*flip:h", 2), ("scale:2*scale:0.5", 3)],
)  # fmt: skip
def test_sets_have_no_duplicates_and_begin_with_the_identity(text, count):
    js = JitterSet.parse(text)
    assert len(js) == len(js.names) == len(set(js.names)) == count
    assert js.names[0] == "identity"
    images = blobs()
    np.testing.assert_array_equal(jittered(text, images)[0], images)


def test_a_product_of_shifts_is_the_sum_of_its_offsets():
    js = JitterSet.parse("plus:1*shift:2,3")
    assert {tuple(o) for o in js.offsets} == {
        (a + s * 2, b + s * 3) for a, b in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)) for s in (0, 1)
    }
    assert js.reach == 4


def test_inner_products_on_a_padded_canvas_depend_on_the_relative_shift_only():
    images = blobs(empty=1)
    js = JitterSet.parse("box:1")
    stack = js.apply(images, pad=js.reach)
    seen = {}
    for a, u in zip(js.offsets, stack):
        for b, v in zip(js.offsets, stack):
            gram = seen.setdefault(tuple(b - a), u @ v.T)
            np.testing.assert_allclose(u @ v.T, gram, rtol=1e-5)
    assert len(seen) == 25
    np.testing.assert_allclose((stack**2).sum(axis=2) - (images**2).sum(axis=(1, 2)), 0, atol=1e-4)


@pytest.mark.parametrize("text", ["vsv2", "rot:-10,10", "box:1*thick:0.5", "shear:0.2*scale:1.1", "elastic:0.5,3,2"])
def test_a_padded_canvas_shows_the_same_picture(text):
    images = blobs(h=20, w=18, empty=6)
    np.testing.assert_allclose(jittered(text, images, pad=2)[:, :, 2:-2, 2:-2], jittered(text, images), atol=1e-6)


def test_rotations_and_mirrors_are_exact_where_the_grid_allows():
    square = blobs(h=9, w=9, empty=0)
    np.testing.assert_allclose(jittered("rot:90", square)[1], np.rot90(square, axes=(1, 2)), atol=1e-6)
    images = blobs(empty=0)
    np.testing.assert_allclose(jittered("rot:180", images)[1], images[:, ::-1, ::-1], atol=1e-6)
    np.testing.assert_allclose(jittered("flip:h", images)[1], images[:, :, ::-1], atol=1e-6)
    np.testing.assert_allclose(jittered("flip:v", images)[1], images[:, ::-1], atol=1e-6)
    np.testing.assert_allclose(jittered("flip:h*flip:v", images)[-1], images[:, ::-1, ::-1], atol=1e-6)


def test_shears_and_scales_move_ink_as_they_say():
    h = w = 21
    y, x = np.mgrid[:h, :w] - 10
    bar = (np.exp(-0.5 * x**2) * (abs(y) < 7)).astype(np.float32)[None]
    right = jittered("shear:0.3", bar)[1, 0]
    assert (right[5] * x[5]).sum() / right[5].sum() == pytest.approx(0.3 * 5, abs=0.02)
    disc = np.exp(-0.5 * (y**2 + x**2) / 4).astype(np.float32)[None]
    wide = jittered("scale:1.25", disc)[1, 0]
    assert wide.sum() == pytest.approx(1.25**2 * disc.sum(), rel=0.02)


def test_thickness_mixes_the_line_with_its_dilation_and_erosion():
    dot = np.zeros((1, 5, 5), np.float32)
    dot[0, 2, 2] = 1
    cross = dot[0].copy()
    cross[[1, 3, 2, 2], [2, 2, 1, 3]] = 1
    _, thicker, thinner = jittered("thick:0.5", dot)
    np.testing.assert_allclose(thicker[0], (dot[0] + cross) / 2)
    np.testing.assert_allclose(thinner[0], dot[0] / 2)
    np.testing.assert_allclose(jittered("thick:1", 3 - dot), 3 - jittered("thick:1", dot))


def test_a_contour_moves_along_the_gradient():
    radius = np.hypot(*np.mgrid[-12:13, -12:13]).astype(np.float32)
    disc = np.clip((6 - radius) / 4, 0, 1)[None]  # grey from 2 to 6 pixels, 1/4 a pixel steep
    _, thicker, thinner = jittered("contour:2", disc)
    inside = (radius > 3) & (radius < 5)
    np.testing.assert_allclose(thicker[0][inside], disc[0][inside] + 2 / 16, atol=0.02)  # x + s |grad x|^2
    np.testing.assert_allclose(thinner[0][inside], disc[0][inside] - 2 / 16, atol=0.02)
    assert (thicker >= disc - 1e-6).all()
    assert 0 <= thinner.min() <= thicker.max() <= 1
    first = jittered("contour:0.01", disc)[1, 0] - disc[0]
    gradient = np.stack(np.gradient(disc[0]))
    np.testing.assert_allclose(first[inside], 0.01 * (gradient[:, inside] ** 2).sum(axis=0), atol=2e-4)
    np.testing.assert_allclose(jittered("contour:1", 3 - 2 * disc), 3 - 2 * jittered("contour:1", disc), atol=1e-5)


@pytest.mark.parametrize("text", ["rot:12", "scale:0.8", "thick:0.5", "contour:1", "plus:1", "elastic:1,3,1"])
def test_how_grey_is_written_does_not_matter(text):
    images = blobs(c=3)
    plain = jittered(text, images)
    np.testing.assert_allclose(jittered(text, 1 - images), 1 - plain, atol=1e-6)
    np.testing.assert_allclose(jittered(text, 2 * images - 1), 2 * plain - 1, atol=1e-5)
    np.testing.assert_allclose(plain[..., 1], jittered(text, images[..., 1]), atol=1e-6)


def test_the_edge_border_keeps_a_constant_image_constant():
    flat = np.full((2, 8, 8), 3, np.float32)
    np.testing.assert_allclose(jittered("vsv2+rot:20+scale:0.5+elastic:2,3,2@edge", flat), 3, rtol=1e-6)


def test_elastic_distortions_are_seeded_and_as_strong_as_asked():
    images = blobs()
    first = jittered("elastic:1,4,2,7", images)
    np.testing.assert_array_equal(first, jittered("elastic:1,4,2,7", images))
    assert abs(first - jittered("elastic:1,4,2,8", images))[1:].max() > 1e-3
    np.testing.assert_array_equal(first[2], jittered("elastic:1,4,1,8", images)[1])


def test_random_deformations_are_drawn_by_number_and_seed_alone():
    images = blobs()
    first = jittered("random:3,seed=7", images)
    np.testing.assert_array_equal(first, jittered("random:9,seed=7", images)[:4])
    assert abs(first - jittered("random:3,seed=8", images))[1:].max() > 1e-3
    assert len(JitterSet.parse("random:20*box:1")) == 21 * 9


@pytest.mark.parametrize(
    ("random", "exact"),
    [
        ("shift=2", None),
        ("rot=20", "rot:{turn}"),
        ("scale=0.2", None),
        ("shear=0.3", "shear:{shear}"),
        ("elastic=2", None),
    ],
)
def test_a_random_deformation_is_made_of_the_parts_that_it_names(random, exact):
    """Alone, a part does what its own family does with the number drawn; with all at 0 nothing happens."""
    images, nothing = blobs(), "shift=0,rot=0,shear=0,scale=0,elastic=0"
    np.testing.assert_allclose(jittered(f"random:2,{nothing}", images), np.stack(3 * [images]), atol=1e-6)
    text = f"random:4,{nothing},{random}"
    drawn = jittered(text, images)
    assert all(abs(image - images).max() > 1e-3 for image in drawn[1:])
    for number, jitter in enumerate(JitterSet.parse(text).jitters[1:] if exact else ()):
        a, _, c, _ = jitter.parts[0][1][:4]
        told = exact.format(turn=np.rad2deg(np.arctan2(c, a)), shear=-c)
        np.testing.assert_allclose(drawn[number + 1], jittered(told, images)[1], atol=1e-5)


def test_greys_that_are_whole_numbers_stay_so():
    greys = np.rint(200 * blobs() / blobs().max())
    assert (jittered("random:5", greys) % 1 == 0).all()
    assert (jittered("random:5", greys / 255) % 1 != 0).any()


@pytest.mark.parametrize(
    "text", ["box:1", "rot:-8,8*vsv2", "vsv2*thick:0.5+rot:5*box:1@edge", "flip:h*(box:1+scale:1.1)",
             "random:3,shift=1,rot=8+plus:1"]
)  # fmt: skip
def test_factoring_out_the_shifts_gives_the_set_back(text):
    images = blobs(h=30, w=30, empty=10)
    js = JitterSet.parse(text, (30, 30))
    rest, index, offsets = js.factor()
    assert rest.offsets is None or not rest.offsets.any()
    bases = rest.apply(images)
    whole = js.apply(images).reshape(len(js), *images.shape)
    for j, (r, (dy, dx)) in enumerate(zip(index, offsets)):
        np.testing.assert_allclose(whole[j], np.roll(bases[r].reshape(images.shape), (dy, dx), (1, 2)), atol=1e-6)


@pytest.mark.parametrize("text", ["vsv2*rot:-8,8@edge", "plus:1+thick:0.5"])
def test_picking_single_forms_agrees_with_applying_the_whole_set(text):
    images = blobs(n=40, c=3)
    js = JitterSet.parse(text)
    which = np.random.default_rng(0).integers(len(js), size=len(images))
    np.testing.assert_array_equal(js.pick(images, which, pad=1), js.apply(images, pad=1)[which, np.arange(40)])


@pytest.mark.parametrize("text", ["box:1@zero", "plus:1+rot:-8,8"])
def test_powers_hold_every_product(text):
    js = JitterSet.parse(text)
    square = js.power(2)
    table = square.after(js, js)
    assert set(table.ravel()) == set(range(len(square)))
    assert table[0].tolist() == square.after(js, js.power(0))[:, 0].tolist()
    assert square.border == js.border
    assert len(js.power(0)) == 1


def test_the_zero_border_brings_in_zeros_whatever_the_background():
    images = 5 - blobs(empty=0)
    moved = jittered("shift:2,0@zero", images)[1]
    assert (moved[:, :2] == 0).all()
    assert (moved[:, 2:] == images[:, :-2]).all()


def test_sets_are_values_named_by_their_text():
    js = JitterSet.parse(" Box:1 * thick:0.5 ", (28, 28))
    again = JitterSet.parse(str(js), js.image_shape)
    assert js == again
    assert hash(js) == hash(again)
    assert js != JitterSet.parse("box:1", (28, 28))
    assert str(js) == "box:1*thick:0.5"
    assert JitterSet.parse(js) is js


def test_rows_images_and_integers_are_treated_alike():
    images = (255 * blobs(c=3)).astype(np.uint8)
    js = JitterSet.parse("plus:1*rot:5", images.shape[1:])
    rows = js.apply(images.reshape(len(images), -1))
    assert rows.shape == (10, 5, 14 * 11 * 3)
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, js.apply(images.astype(np.float64)))
    np.testing.assert_array_equal(rows, np.stack(list(js.each(images))))


@all_cases(
    ("text", "says"),
    [
        ("boxx:1", "'boxx:1' is unknown; allowed: none, box:R"),
        ("box:one", "allowed: whole numbers from 0 to 31"),
        ("box:1,2", "allowed: one number; the form is box:R"),
        ("rot:400", "numbers from -180 to 180"),
        ("rot:", "the form is rot:DEGREES"),
        ("shift:1,2,3", "allowed: pairs"),
        ("flip:x", "allowed: h"),
        ("elastic:1", "three or four numbers"),
        ("random:0", "whole numbers from 1 to 4095"),
        ("random:5,turn=3", "allowed: NAME=NUMBER, with a NAME of shift, rot"),
        ("random:5,scale=2", "numbers from 0 to 0.75"),
        ("box:1@wrap", "border 'wrap' is unknown; allowed: @background, @edge, @zero"),
        ("(box:1", r"a closing '\)' is missing"),
        ("box:1)", r"'\)' is out of place"),
        ("box:1+", "'nothing' is unknown"),
        ("", "'nothing' is unknown"),
        ("box:20*box:20", "the product has 2825761 jitters; allowed: at most 4096"),
    ],
)
def test_errors_quote_the_text_and_say_what_is_allowed(text, says):
    with pytest.raises(ValueError, match=f"jitters '.*{says}"):
        JitterSet.parse(text)


def test_rows_without_a_shape_are_refused():
    with pytest.raises(ValueError, match="need images"):
        JitterSet.parse("box:1").apply(np.zeros((3, 16)))
    with pytest.raises(ValueError, match="do not match"):
        JitterSet.parse("box:1", (5, 5)).apply(np.zeros((3, 16)))


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("box:1", "box:1"),
        ("random:6", "random:6,seed=7"),
        ("(box:1+random:3,rot=4)*flip:h@edge", "(box:1+random:3,rot=4,seed=7)*flip:h@edge"),
        ("random:3,seed=2", "random:3,seed=2"),
        ("elastic:0.7,4,3", "elastic:0.7,4,3,3500"),
        ("elastic:0.7,4,3,1*rot:5", "elastic:0.7,4,3,1*rot:5"),
    ],
)
def test_random_families_take_a_seed_where_they_state_none(text, drawn):
    assert seeded(text, 7) == drawn
    assert seeded(text, 0) == text
    JitterSet.parse(drawn, (8, 8))


@pytest.mark.parametrize("method", ["vsv", "jsv", "query-jitter", "vsv-search"])
def test_random_deformations_of_a_recipe_are_drawn_by_its_seed(method):
    """Of the same examples, by machines that are the same but for this."""
    options = {"candidates": "random:2", "budget": 2} if method == "vsv-search" else {}
    recipe = Recipe(dataset="digits-8x8", classes=(3, 8), n_train=60, n_test=20, split="stratified", kernel=RBF(0.5),
                    preprocess=("unit-norm",), method=method, jitters="random:4", options=options)  # fmt: skip
    problem, f = train.prepare(recipe), []
    for seed in (0, 0, 5):
        other = recipe.replace(seed=seed)
        drawn = problem._replace(kernel=train.prepare(other).kernel)
        f.append(train.fit(other, drawn).estimator.machine_.decision_function(problem.X_test))
    np.testing.assert_array_equal(f[0], f[1])
    assert np.abs(f[0] - f[2]).max() > 1e-6
