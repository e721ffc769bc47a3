"""A reader's own files: every accepted format arrives whole, in the project's types."""

import gzip
import io
import pickle
import re
import tracemalloc
import zipfile

import numpy as np
import pytest
from PIL import Image, ImageCms, features

from data import DataError
from data.loaders import depth, images, text, upload
from data.loaders.sieve import Unusable
from tests.cases import all_cases
from tests.uploads import (
    BROKEN_EXIF,
    COLOUR,
    GREY,
    PAIR,
    RNG,
    archive,
    csv,
    exif,
    idx,
    image,
    npz,
    photograph,
    png_of_16_bits,
    read_upload,
    tree,
)


def by_value(X, y):
    """The examples as a set of (values, label), for comparing whatever their order."""
    return {(row.tobytes(), str(label)) for row, label in zip(X, y)}


@pytest.mark.parametrize("X", [GREY, COLOUR, GREY.reshape(12, -1) / 7], ids=["grey", "rgb", "rows"])
def test_npz_keeps_its_values_and_parts(X):
    arrays = read_upload("mine.npz", npz(X=X, y=PAIR, X_test=X[:4], y_test=PAIR[:4])).arrays
    assert np.allclose(arrays.X_train, X)
    assert (arrays.y_train == PAIR).all()
    assert len(arrays.X_test) == 4


@pytest.mark.parametrize("names", [("x_train", "y_train"), ("images", "labels"), ("data", "target")])
def test_npz_may_use_the_common_names(names):
    assert len(read_upload("a.npz", npz(**dict(zip(names, (GREY, PAIR))))).arrays.X_train) == 12


@pytest.mark.parametrize(("images", "form"), [(GREY, "PNG"), (COLOUR, "PNG"), (GREY, "PPM"), (COLOUR, "BMP")])
def test_a_zip_of_images_in_class_folders(images, form):
    labels = np.where(PAIR, "cat", "dog")
    preview = read_upload("pets.zip", archive(tree(images, labels, form.lower(), form)))
    assert preview.format == "images"
    assert preview.title == "pets"
    assert by_value(preview.arrays.X_train, preview.arrays.y_train) == by_value(images, labels)
    assert preview.arrays.y_train[0] != preview.arrays.y_train[1]


def test_a_folder_of_images_with_a_test_part_and_numbered_classes(tmp_path):
    for k, (picture, label) in enumerate(zip(GREY, PAIR)):
        folder = tmp_path / ("test" if k < 4 else "train") / str(label)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{k}.png").write_bytes(image(picture))
    (tmp_path / ".DS_Store").write_bytes(b"junk")
    arrays = read_upload(tmp_path.name, tmp_path).arrays
    assert (len(arrays.X_train), len(arrays.X_test)) == (8, 4)
    assert arrays.y_train.dtype == np.int64
    assert by_value(arrays.X_test, arrays.y_test) == by_value(GREY[:4], PAIR[:4])


def test_image_modes_become_grey_or_rgb():
    deep = Image.fromarray(GREY[0].astype(np.uint16) * 257)
    palette = Image.fromarray(GREY[1]).convert("P")
    see_through = Image.fromarray(np.dstack([np.zeros((6, 9, 3), np.uint8), GREY[2]]), "RGBA")
    files = {
        "a/0.png": image(deep),
        "a/1.png": image(palette),
        "b/2.png": image(see_through),
        "b/3.png": image(GREY[3]),
    }
    arrays = read_upload("modes.zip", archive(files)).arrays
    assert by_value(arrays.X_train, "aabb") >= by_value([GREY[0]], "a")
    assert any((picture == 255 - GREY[2]).all() for picture in arrays.X_train)


@all_cases(("largest", "divisor"), [(200, 1), (1000, 4), (4000, 16), (4096, 64), (16383, 64), (65535, 256)])
@all_cases("form", ["PNG", "TIFF"])
def test_images_of_16_bits_share_one_scale_by_the_largest_value_of_them_all(largest, divisor, form):
    values = np.random.default_rng(1).integers(0, largest // 9, (6, 7, 8)).astype(np.uint16)
    values[2, 3:5] = largest  # in one image alone
    values[0, 0] = 0
    suffix = {"PNG": "png", "TIFF": "tif"}[form]
    preview = read_upload("deep.zip", archive(tree(values, "ababab", suffix, form)))
    assert by_value(preview.arrays.X_train, preview.arrays.y_train) == by_value(
        (values // divisor).astype(np.uint8), "ababab"
    )
    bits = {1: 8, 4: 10, 16: 12, 64: 14, 256: 0}[divisor]
    said = "16 bits per pixel" + (f", of which {bits} are used" if bits else "")
    kept = "stay as they are" if divisor == 1 else f"are divided by {divisor}"
    assert f"The images have {said}: values {kept}" in preview.notes


def read_16_bits(values):
    """The pixels of images (n, h, w) of 16 bits as they are read, in some order, and the notes."""
    preview = read_upload("deep.zip", archive(tree(values, "ab" * (len(values) // 2))))
    return preview.arrays.X_train, preview.notes


@all_cases(
    ("low", "high", "divisor"),
    [
        *((32268, 33268, 4), (1000, 1100, 0.5), (1000, 1041, 0.25), (1000, 1300, 2), (40000, 40255, 1)),
        *((60000, 65535, 32), (300, 4200, 16), (20000, 50000, 128)),
    ],
)
def test_images_of_16_bits_above_an_offset_keep_their_levels(low, high, divisor):
    """What is read is what is left of the values after the smallest one of the set, to the step that 256 levels leave:
    pixels that differ by a step differ, and the order is kept."""
    values = np.random.default_rng(2).integers(low, high + 1, (6, 30, 40)).astype(np.uint16)
    values[0, :5], values[1, :5] = low, high
    X, notes = read_16_bits(values)
    expected = (values.astype(int) - low) // divisor if divisor < 128 else values // 256
    assert by_value(X, "aaaaaa") == by_value(expected.astype(np.uint8), "aaaaaa")
    if divisor == 128:  # that would take as many bits without the offset
        assert "The images have 16 bits per pixel: values are divided by 256" in notes
        return
    by = f"divided by {divisor}" if divisor > 1 else f"multiplied by {1 / divisor:g}"
    said = f"{low:,} is subtracted" + (f" and values are {by}" if divisor != 1 else "")
    assert f"The images have 16 bits per pixel, with values from {low:,} to {high:,}: {said}" in notes


@all_cases("hot", [1, 4, 6])
@all_cases("offset", [0, 20000])
def test_a_hot_pixel_does_not_set_the_scale_of_the_others(hot, offset):
    values = np.random.default_rng(3).integers(0, 4000, (6, 30, 40)).astype(np.uint16) + np.uint16(offset)
    values[0, :5] = offset
    spoilt = values.copy()
    spoilt[:hot, 7, 9] = 65535  # one an image
    X, notes = read_16_bits(spoilt)
    expected = ((values.astype(int) - offset) // 16).astype(np.uint8)
    expected[:hot, 7, 9] = 255
    assert by_value(X, "aaaaaa") == by_value(expected, "aaaaaa")
    pixels, become = ("1 pixel", "becomes") if hot == 1 else (f"{hot} pixels", "become")
    (note,) = (note for note in notes if "16 bits" in note)
    assert note.endswith(f"; {pixels} outside {offset:,} to {offset + 4095:,} {become} black or white")


@all_cases("shape", [(1, 1), (1, 2), (3, 3), (9, 11), (40, 30)])
@all_cases("kind", ["one value", "any", "narrow", "spoilt", "two"])
def test_on_one_scale_order_is_kept_and_what_is_lost_is_told(shape, kind):
    """For every set: a brighter pixel never becomes a darker one, two pixels that become one differ by less than the
    divisor unless both are cut off, and as many pixels are cut off as the note counts."""
    rng = np.random.default_rng(5)
    for low in (0, 7, 500, 30000):
        values = {
            "one value": np.full((8, *shape), low),
            "any": rng.integers(low, 65536, (8, *shape)),
            "narrow": low + rng.integers(0, 700, (8, *shape)),
            "spoilt": low + rng.integers(0, 700, (8, *shape)) * np.where(rng.random((8, *shape)) < 1e-3, 40, 1),
            "two": low + 300 * rng.integers(0, 2, (8, *shape)),
        }[kind].astype(np.uint16)
        pixels, (note, *_) = depth.on_one_scale([depth.Decoded(of_one) for of_one in values], [""] * len(values))
        v, x = values.ravel().astype(int), np.stack(pixels).ravel().astype(int)
        assert np.stack(pixels).dtype == np.uint8
        order = np.argsort(v, kind="stable")
        assert (np.diff(x[order]) >= 0).all()
        divisor = int((re.findall(r"divided by (\d+)", note) or ["1"])[0])
        divisor /= int((re.findall(r"multiplied by (\d+)", note) or ["1"])[0])
        start = int((re.findall(r"([\d,]+) is subtracted", note) or ["0"])[0].replace(",", ""))
        cut = int((re.findall(r"([\d,]+) pixels? outside", note) or ["0"])[0].replace(",", ""))
        inside = (v >= start) & (v < start + 256 * divisor)
        assert (x[inside] == (v[inside] - start) // divisor).all()
        assert cut == (~inside).sum() <= max(16, 1e-4 * v.size)


def test_a_bright_spot_is_no_hot_pixel_and_the_levels_that_it_costs_are_told():
    values = np.random.default_rng(4).integers(100, 900, (6, 30, 40)).astype(np.uint16)
    values[0, 3:6, 3:6] = 60000
    X, notes = read_16_bits(values)
    assert by_value(X, "aaaaaa") == by_value((values // 256).astype(np.uint8), "aaaaaa")
    low, high = np.quantile(values, [0.01, 0.99]).astype(int) // 256
    assert any(
        f"98 % of the pixels keep only {high - low + 1} levels" in note and "8-bit images" in note for note in notes
    )


def test_images_of_16_bits_beside_others_that_are_left_out_or_have_8():
    values = np.random.default_rng(1).integers(0, 4000, (4, 6, 9)).astype(np.uint16)
    files = tree([*values, *GREY[:3]], "ababaab") | {"set/a/bright.png": image(np.full((3, 3), 65535, np.uint16))[:40]}
    preview = read_upload("deep.zip", archive(files), skip=True)
    expected = by_value([*(values // 16).astype(np.uint8), *GREY[:3]], "ababaab")
    assert by_value(preview.arrays.X_train, preview.arrays.y_train) == expected
    assert "4 of 7 images have 16 bits per pixel, of which 12 are used: values are divided by 16" in preview.notes


def test_files_of_fewer_bits_than_others_on_their_scale_are_counted_with_their_levels_and_the_way_out():
    values = np.random.default_rng(1).integers(0, 4096, (6, 6, 9)).astype(np.uint16)
    values[3:] *= 16  # of 16 bits; the others of 12
    values[4:] += 15
    X, notes = read_16_bits(values)
    assert by_value(X, "aaaaaa") == by_value((values // 256).astype(np.uint8), "aaaaaa")
    dark, levels = values[:3], len(np.unique(values[:3] // 256))
    (note,) = (note for note in notes if "of these" in note)
    assert note.startswith(f"3 of these images have only values up to {dark.max():,}, such as ")
    assert f"at most {levels} of 256 levels" in note
    assert note.endswith("If their range is 12 bits, multiply their values by 16")
    assert not any("of these" in note for note in read_16_bits(np.concatenate([dark * 16, values[3:]]))[1])


def test_colours_that_are_converted_or_whose_profile_is_ignored_are_told():
    pictures = [Image.fromarray(np.kron(colours, np.ones((8, 8, 1), np.uint8))) for colours in COLOUR[:6]]
    files = {f"{'ab'[k % 2]}/{k}.png": image(picture) for k, picture in enumerate(pictures)}
    own = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    other = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    assert not any("colours matter" in note for note in read_upload("p.zip", archive(files)).notes)
    files |= {
        "a/own.jpg": image(pictures[0], "JPEG", icc_profile=own),
        "a/lab.jpg": image(pictures[1], "JPEG", icc_profile=other),
    }
    files |= {
        "b/bad.jpg": image(pictures[2], "JPEG", icc_profile=b"no profile" * 9),
        "b/ink.jpg": image(pictures[3].convert("CMYK"), "JPEG"),
    }
    preview = read_upload("p.zip", archive(files))
    notes = [note for note in preview.notes if "colours matter" in note]
    assert len(notes) == 2
    assert notes[0].startswith(
        "2 images have a colour profile that is damaged or not sRGB, and is ignored, such as a/lab"
    )
    assert notes[1].startswith(
        "1 image has ink colours (CMYK), which are converted to RGB without a profile, such as b/ink.jpg"
    )
    at = [
        k for k, x in enumerate(preview.arrays.X_train) if np.abs(x.astype(int) - np.asarray(pictures[3])).mean() < 12
    ]
    assert len(at) == 2  # the inks look like the picture they are of


def test_a_picture_of_far_too_many_pixels_is_named_with_what_is_accepted(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 50)
    files = tree(GREY[:5], "ababa") | {"set/a/bomb.png": image(np.zeros((20, 20), np.uint8))}
    with pytest.raises(
        Unusable, match=r"set/a/bomb\.png has more than 100 pixels\. Accepted: images of up to 4096 x 4096"
    ):
        read_upload("p.zip", archive(files))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.full((6, 9), -5, np.int32), r"0\.tif cannot .* values range from -5 to -5: save it with values from 0"),
        (np.full((6, 9), 70000, np.int32), "from 70000 to 70000"),
        (np.full((6, 9), 0.5, np.float32), "its values are not whole numbers: save it with whole numbers"),
        (np.full((6, 9), np.nan, np.float32), "from nan to nan"),
    ],
)
def test_an_image_whose_values_are_not_of_16_bits_is_refused(values, said):
    with pytest.raises(DataError, match=said):
        read_upload("deep.zip", archive(tree([values, values], "ab", "tif", "TIFF")))


def test_colours_of_16_bits_are_read_where_they_fill_them_and_refused_where_bits_would_be_lost():
    colours = np.random.default_rng(1).integers(0, 65536, (4, 6, 9, 3))
    colours[0] //= 60  # a dark one
    files = {f"set/{'ab'[k % 2]}/{k}.png": png_of_16_bits(values) for k, values in enumerate(colours)}
    preview = read_upload("deep.zip", archive(files))
    assert by_value(preview.arrays.X_train, preview.arrays.y_train) == by_value(
        (colours // 256).astype(np.uint8), "abab"
    )
    low = {name: png_of_16_bits(30000 + values // 64) for name, values in zip(files, colours)}
    (note,) = (note for note in read_upload("low.zip", archive(low)).notes if "levels" in note)
    assert note.startswith("98 % of the pixels keep only 5 levels")  # 30,000 to 31,023, of which the step is 256
    files = {name: png_of_16_bits(values // 16) for name, values in zip(files, colours)}
    with pytest.raises(DataError, match=r"of which 12 are used, but only the upper 8 .*multiply the values by 16"):
        read_upload("deep.zip", archive(files))


@pytest.mark.parametrize("form", ["PNG", "TIFF", *["AVIF"] * features.check("avif")])
def test_a_picture_is_upright_as_its_camera_says(form):
    for picture in (GREY[0], COLOUR[0]):
        turned = picture.swapaxes(0, 1)
        lies = {1: picture, 2: np.fliplr(picture), 3: np.rot90(picture, 2), 4: np.flipud(picture), 5: turned}
        lies |= {6: np.rot90(picture), 7: np.rot90(turned, 2), 8: np.rot90(picture, -1)}
        for orientation, pixels in lies.items():
            exact = {"quality": 100, "subsampling": "4:4:4"} if form == "AVIF" else {}
            content = photograph(np.ascontiguousarray(pixels), exif(orientation), form, **exact)
            shown = images.decode("a", content).pixels
            assert shown.shape == picture.shape
            assert np.abs(shown.astype(int) - picture).max() <= (4 if exact else 0), orientation


@all_cases("form", ["PNG", "JPEG", "WEBP"])
@all_cases("notes", BROKEN_EXIF, ids=["type", "header", "short", "cut off"])
def test_a_picture_whose_exif_is_broken_is_read_all_the_same(form, notes):
    assert images.decode("a", photograph(GREY[0], notes, form)).pixels.size == GREY[0].size


def test_whatever_a_reader_of_a_format_raises_names_the_file(monkeypatch):
    for error in (KeyError(3), RecursionError(), MemoryError(), ZeroDivisionError("division by zero")):

        def fail(image, error=error):
            raise error

        monkeypatch.setattr(images, "flat", fail)
        why = str(error) or type(error).__name__
        with pytest.raises(DataError, match=rf"a\.png cannot be read as an image \({why}"):
            images.decode("a.png", image(GREY[0]))


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_idx_pairs(pack):
    preview = read_upload("train-images-idx3-ubyte", pack(idx(GREY)), [("train-labels-idx1-ubyte", pack(idx(PAIR)))])
    assert (preview.arrays.X_train == GREY).all()
    assert (preview.arrays.y_train == PAIR).all()


def test_idx_training_and_test_pairs_in_one_zip():
    names = ("train-images", "train-labels", "t10k-images", "t10k-labels")
    parts = (GREY, PAIR, GREY[:4], PAIR[:4])
    arrays = read_upload("mnist.zip", archive({f"{name}-ubyte": idx(part) for name, part in zip(names, parts)})).arrays
    assert (arrays.X_test == GREY[:4]).all()
    assert (arrays.y_test == PAIR[:4]).all()


@pytest.mark.parametrize("mark", [",", ";", "\t", " "])
@pytest.mark.parametrize("header", [False, True])
def test_csv_with_the_label_first(mark, header):
    title = mark.join(["label", *"abcd"]) if header else ""
    X = RNG.normal(size=(12, 4)).round(3)
    preview = read_upload("t.csv", csv(X, PAIR, title, mark))
    assert np.allclose(preview.arrays.X_train, X)
    assert (preview.arrays.y_train == PAIR).all()
    assert "The labels are in column" in preview.notes[0]


def test_csv_with_text_labels_last_as_in_iris():
    lines = "\n".join(f"{k / 3:.2f},{k * k},{'setosa' if k % 2 else 'virginica'}" for k in range(10))
    arrays = read_upload("iris.csv", ("sepal length,petal,species\n" + lines).encode()).arrays
    assert set(arrays.y_train) == {"setosa", "virginica"}
    assert arrays.X_train.shape == (10, 2)


def test_the_labels_column_of_a_csv_may_be_chosen():
    table = csv(RNG.integers(0, 3, (12, 3)), PAIR, "sort,a,b,c")
    assert (read_upload("t.csv", table, label="sort").arrays.y_train == PAIR).all()
    assert (read_upload("t.csv", table, label="first").arrays.y_train == PAIR).all()
    with pytest.raises(DataError, match=r"no column 'd'.*sort, a, b, c"):
        read_upload("t.csv", table, label="d")


def test_rows_of_bytes_are_read_as_square_images_unless_told_otherwise():
    table = csv(RNG.integers(0, 256, (12, 64)), PAIR)
    preview = read_upload("t.csv", table)
    assert preview.arrays.X_train.shape == (12, 8, 8)
    assert preview.arrays.X_train.dtype == np.uint8
    assert "read as 8 x 8 images" in preview.notes[1]
    assert read_upload("t.csv", table, image_shape=()).arrays.X_train.shape == (12, 64)
    assert read_upload("t.csv", table, image_shape=(4, 16)).arrays.X_train.shape == (12, 4, 16)
    with pytest.raises(DataError, match="64 values cannot be images of"):
        read_upload("t.csv", table, image_shape=(9, 9))


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_libsvm_text(pack):
    lines = b"+1 1:0.5 3:2 # a comment\n-1 2:1\n\n+1\n-1 3:-1.5\n"
    arrays = read_upload("small.svm", pack(lines)).arrays
    assert (arrays.X_train == np.array([[0.5, 0, 2], [0, 1, 0], [0, 0, 0], [0, 0, -1.5]], np.float32)).all()
    assert (arrays.y_train == [1, -1, 1, -1]).all()


def test_a_single_table_may_come_zipped_or_from_a_path(tmp_path):
    table = csv(GREY.reshape(12, -1), PAIR)
    path = tmp_path / "t.csv"
    path.write_bytes(table)
    for source in (archive({"t.csv": table}), path, str(path)):
        assert (read_upload("t", source, image_shape=(6, 9)).arrays.X_train == GREY).all()


def test_of_two_files_of_one_name_in_a_zip_the_last_counts():
    files = tree(GREY, PAIR)
    first, *_ = files
    file = io.BytesIO(archive(files | {first: image(255 - GREY[0])}))
    with zipfile.ZipFile(file, "a") as out, pytest.warns(UserWarning, match="Duplicate name"):
        out.writestr(first, files[first])
    arrays = read_upload("a.zip", file.getvalue()).arrays
    assert len(arrays.X_train) == len(GREY)
    assert (arrays.X_train == read_upload("a.zip", archive(files)).arrays.X_train).all()


def test_of_several_tables_one_is_chosen_and_the_only_one_beside_other_files_is_read():
    small, large = (
        b"a,b,label\n" + 2 * b"1,2,x\n3,4,y\n",
        b"c,d,label\n" + b"".join(b"%d,2,%d\n" % (k, k % 2) for k in range(20)),
    )
    content = archive({"more/small.csv": small, "large.csv": large, "README.md": b"two tables"})
    with pytest.raises(upload.Several, match="2 tables") as several:
        upload.opened("both.zip", content)
    assert several.value.names == ["large.csv", "more/small.csv"]
    chosen = upload.opened("both.zip", content, only="more/small.csv").read()
    assert chosen.features == ("a", "b")
    assert len(chosen.arrays.X_train) == 4
    with pytest.raises(upload.Several):
        upload.opened("small.csv", small, [("large.csv", large)])
    for first in (b"BM", b"BMI", b"II", b"MM"):  # as bitmaps and TIFF begin
        with pytest.raises(upload.Several):
            upload.opened("a.zip", archive({f"{k}.csv": first + large for k in range(3)}))
    alone = upload.opened("one.zip", archive({"large.csv": large, "LICENCE": b"yes"})).read()
    assert len(alone.arrays.X_train) == 20
    assert "Files that are not read: LICENCE" in alone.notes
    beside = upload.opened("one.zip", archive({"large.csv": large, "LICENCE": b"yes", "more.bin": b"\0"})).read()
    assert {"Of the 2 files, only large.csv is read", "Files that are not read: LICENCE"} <= set(beside.notes)


def test_thirty_and_a_hundred_classes():
    for k in (30, 100):
        y = np.repeat(np.arange(k), 2)
        arrays = read_upload("many.npz", npz(X=RNG.random((2 * k, 3)), y=y)).arrays
        assert len(np.unique(arrays.y_train)) == k


SPOILT = tree(GREY, PAIR) | {
    "set/0/x.png": b"hello",
    "set/1/cut.png": image(GREY[0])[:60],
    "set/1/notes.pkl": pickle.dumps([1]),
    "loose.png": image(GREY[0]),
}


def test_bad_images_of_a_zip_are_named_and_left_out_on_request():
    with pytest.raises(Unusable) as refusal:
        read_upload("pets.zip", archive(SPOILT))
    said = refusal.value
    assert (len(said.bad), said.total, said.words) == (4, 16, "files")
    for name in (
        "set/0/x.png",
        "cut.png",
        "notes.pkl is not an image",
        "loose.png is not in a folder",
    ):
        assert any(name in reason for reason in said.bad)
    assert "BytesIO" not in str(said) + "".join(said.bad)
    preview = read_upload("pets.zip", archive(SPOILT), skip=True)
    assert by_value(*preview.arrays[:2]) == by_value(GREY, PAIR)
    assert any(note.startswith("4 of 16 files left out: ") and "notes.pkl" in note for note in preview.notes)


def test_images_of_formats_that_are_not_read_are_named_with_the_way_out():
    said = "is a picture in the format HEIC, which is not supported: save it as jpg or png"
    heic = b"\0\0\0\x18ftypheic" + bytes(40)
    pictures = tree(GREY, PAIR)
    with pytest.raises(DataError, match=f"a/0.heic {said}"):  # a folder of a telephone
        read_upload("a.zip", archive({f"{'ab'[k % 2]}/{k}.heic": heic for k in range(8)}))
    with pytest.raises(DataError, match=f"0.heic {said}"):
        read_upload("a.zip", archive({"a.csv": b"file,class\n0,x\n1,y\n", **{f"{k}.heic": heic for k in range(8)}}))
    beside = {"a.csv": csv(GREY.reshape(12, -1), PAIR), "plot.svg": b"<svg/>"}
    assert "Of the 2 files, only a.csv is read" in read_upload("a.zip", archive(beside)).notes
    for name, reason in (("set/0/x.HEIC", f"x.HEIC {said}"), ("set/0/x.jpg", "its content is HEIC: save it as jpg"),
                         ("set/0/x.svg", "in the format SVG")):  # fmt: skip
        content = b"<svg xmlns='x'/>" if "svg" in name else heic
        with pytest.raises(Unusable, match=reason):
            read_upload("a.zip", archive(pictures | {name: content}))
        kept = read_upload("a.zip", archive(pictures | {name: content}), skip=True)
        assert len(kept.arrays.X_train) == len(GREY)
    for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF"):
        with pytest.raises(DataError, match=r"a/0 is an image whose name does not end in one of .*\.png"):
            read_upload("a.zip", archive({f"{'ab'[k % 2]}/{k}": image(GREY[k], kind) for k in range(8)}))
    jfif = {f"{'ab'[k % 2]}/{k}.jfif": image(GREY[k], "JPEG") for k in range(8)}  # as Windows names them
    assert len(read_upload("a.zip", archive(jfif)).arrays.X_train) == 8


def test_images_too_small_to_train_on_are_enlarged_and_those_of_bits_and_palettes_keep_their_values():
    tiny = {f"{'ab'[k % 2]}/{k}.png": image(np.full((1, 1), 20 * k, np.uint8)) for k in range(8)}
    X, y = read_upload("a.zip", archive(tiny)).arrays[:2]
    assert sorted(zip(X[:, 0, 0].tolist(), y)) == [(20 * k, "ab"[k % 2]) for k in range(8)]
    assert np.ptp(X, axis=(1, 2)).max() == 0
    bits = image(Image.fromarray(GREY[0] > 127).convert("1"))
    assert (images.decode("a", bits).pixels == np.where(GREY[0] > 127, 255, 0)).all()
    palette = Image.fromarray(GREY[0] // 64, "P")
    colours = np.array([[9, 9, 9], [250, 0, 0], [0, 250, 0], [0, 0, 250]])
    palette.putpalette(colours.ravel().tolist())
    on_white = np.where((GREY[0] // 64 == 0)[..., None], 255, colours[GREY[0] // 64])
    assert (images.decode("a", image(palette, transparency=0)).pixels == on_white).all()
    half = Image.merge("LA", [Image.fromarray(part) for part in GREY[:2]])
    light = GREY[0] * (GREY[1] / 255) + 255 - GREY[1]
    assert np.abs(images.decode("a", image(half)).pixels - light).max() <= 1


def test_a_folder_of_links_is_read_and_a_link_to_nothing_is_named(tmp_path):
    """A subset of a large set is often a folder of links; none of them may be missing without a word."""
    for name, content in tree(GREY, PAIR).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    subset = tmp_path / "subset"
    (subset / "one").mkdir(parents=True)
    (subset / "zero").symlink_to(tmp_path / "set/0")
    (subset / "one/again").symlink_to(subset)  # and no end of it
    (tmp_path / "other").mkdir()
    (tmp_path / "other/back").symlink_to(subset / "one")
    (subset / "one/other").symlink_to(tmp_path / "other")
    for k in range(1, 12, 2):
        (subset / f"one/{k}.png").symlink_to(tmp_path / f"set/1/{k:03}.png")
    preview = read_upload("subset", subset)
    assert by_value(*preview.arrays[:2]) == by_value(GREY, [["zero", "one"][k] for k in PAIR])
    (tmp_path / "set/1/003.png").unlink()
    with pytest.raises(Unusable, match=r"one/3\.png is a link to a file that does not exist"):
        read_upload("subset", subset)
    assert len(read_upload("subset", subset, skip=True).arrays.X_train) == 11


def test_bad_rows_of_a_csv_are_named_by_their_line_and_left_out_on_request():
    good = "".join(f"{k % 2},{k},{k + 1}.5\n" for k in range(8))
    table = ("y,a,b\n" + good + '\n1,x,3\n0,1\n,4,5\n1,nan,2\n0,2,3,4\n1,1e300,2\n1,"7",""\n' + good).encode()
    with pytest.raises(Unusable) as refusal:
        read_upload("t.csv", table)
    assert (len(refusal.value.bad), refusal.value.total) == (6, 23)
    said = {
        11: "has 'x'",
        12: "2 values",
        14: "'nan'",
        15: "4 values",
        16: "1e300",
        17: "an empty cell in column 'b'",
    }
    for reason, (line, words) in zip(refusal.value.bad, said.items()):
        assert f"ine {line} " in reason
        assert words in reason
    preview = read_upload("t.csv", table, skip=True)
    labelled = 2 * [[k, k + 1.5] for k in range(8)]
    assert preview.arrays.X_train.tolist() == [*labelled, [4, 5]]  # line 13 has no label
    assert "6 of 23 rows left out: line 11, line 12, line 14, line 15, line 16 and 1 more" in preview.notes


def test_bad_rows_of_an_array_are_named_and_left_out_on_request_with_all_that_belongs_to_them():
    rng = np.random.default_rng(3)
    X, X_test = rng.normal(size=(40, 5)), rng.normal(size=(12, 5))
    y, y_test, groups = np.arange(40) % 2, np.arange(12) % 2, np.arange(52) // 2 * 2 + np.arange(52) % 2
    shown = rng.integers(0, 256, (52, 7, 7), dtype=np.uint8)
    whole, holes = np.concatenate([X, X_test]), {3: [0, 4], 17: [2], 39: [1], 45: [0, 1, 2]}
    for row, columns in holes.items():
        whole[row, columns] = [np.nan, np.inf, 1e300][: len(columns)]
    good = np.setdiff1d(np.arange(52), list(holes))
    train, test = good[good < 40], good[good >= 40]

    def file(train, test, dtype=np.float64):
        parts = {"X": whole[train], "X_test": whole[test], "images": shown[train], "images_test": shown[test]}
        parts |= {"groups": groups[train], "groups_test": groups[test]}
        return npz(**parts, y=y[train], y_test=y_test[test - 40])

    bad = file(np.arange(40), np.arange(40, 52))
    with pytest.raises(Unusable, match=r"X has 2 missing or infinite values in example 3; 4 of 52 rows") as refusal:
        read_upload("a.npz", bad)
    assert refusal.value.bad[-1] == "X_test has 3 missing or infinite values in example 5"
    left, usual = read_upload("a.npz", bad, skip=True), read_upload("a.npz", file(train, test))
    for mine, its in zip((*left.arrays[:4], left.arrays.groups), (*usual.arrays[:4], usual.arrays.groups), strict=True):
        np.testing.assert_array_equal(mine, its)
    np.testing.assert_array_equal([left.arrays.album.picture(k) for k in range(48)], shown[good])
    assert "4 of 52 rows left out: X[3], X[17], X[39], X_test[5]" in left.notes
    with pytest.raises(DataError, match="none of 40 rows can be used"):
        read_upload("a.npz", npz(X=X * np.nan, y=y), skip=True)


def test_a_class_of_one_example_is_named_and_left_out_on_request():
    X, y, test = np.arange(80.0).reshape(20, 4), np.array([0] * 8 + [1] * 7 + [2] + [np.nan] * 4), np.arange(3.0)
    file = npz(X=X, y=y, X_test=X[:3] + 0.5, y_test=test, images=np.arange(20 * 9, dtype=np.uint8).reshape(20, 3, 3),
               images_test=np.zeros((3, 3, 3), np.uint8))  # fmt: skip
    with pytest.raises(Unusable, match="Class 2 has only one training example"):
        read_upload("a.npz", file)
    preview = read_upload("a.npz", file, skip=True)
    assert "1 of 3 classes left out: class 2" in preview.notes
    rows = np.r_[:15, 16:20]
    np.testing.assert_array_equal(preview.arrays.X_train, X[rows])
    assert preview.arrays.y_train.tolist() == [0] * 8 + [1] * 7
    assert preview.arrays.y_test.tolist() == [0, 1]
    assert [preview.arrays.album.picture(k)[0, 0] for k in range(19)] == (9 * rows).tolist()


def sparse(rng, n, d, base):
    """A table (n, d) with many zeros, its labels, and both as libsvm text of indices from `base`."""
    X = np.where(rng.random((n, d)) < 0.3, rng.normal(size=(n, d)).round(3), 0).astype(np.float32)
    X[0, 0], X[0, -1] = 1, 2
    y = rng.integers(-2, 3, n)
    y[:2] = y[2:4] = [1, 2]
    rows = [" ".join([str(label), *(f"{j + base}:{x:g}" for j, x in enumerate(row) if x)]) for label, row in zip(y, X)]
    return X, y, rows


@all_cases("end", ["\n", "\r\n", "\r", "\n\n", " # words: 3:4\n"])
@all_cases("mark", ["", "\ufeff"])
@all_cases("base", [0, 1])
def test_libsvm_text_with_any_ends_of_lines(end, mark, base):
    X, y, rows = sparse(np.random.default_rng(base), 60, 9, base)
    arrays = read_upload("a.svm", (mark + end.join(rows) + end).encode()).arrays
    assert (arrays.X_train == X).all()
    assert (arrays.y_train == y).all()


def test_libsvm_text_with_queries_and_comments():
    """As learning to rank writes it: svmlight's qid, and comments before the first example."""
    X, y, rows = sparse(np.random.default_rng(5), 60, 9, 1)
    parted = [row.partition(" ") for row in rows]
    ranked = [f"{label} qid:{k // 5} {pairs} # document {k}" for k, (label, _, pairs) in enumerate(parted)]
    content = "# made by hand\n#\n" + "\n".join(ranked) + "\n"
    for name in ("a.svm", "a.txt"):
        arrays = read_upload(name, content.encode()).arrays
        assert (arrays.X_train == X).all()
        assert (arrays.y_train == y).all()
    broken = content.replace("qid:9 ", "qid:9 x:", 1)
    with pytest.raises(DataError, match="which is not a whole number"):
        read_upload("a.svm", broken.encode())


WRONG_LIBSVM = {
    "1:2 3": "Line 41 of a.svm: could not convert .*'1:2'",
    "1 2 3:": "Line 41 of a.svm does not consist of a label and index:value pairs",
    "1 3:1 2:1": "Line 41 of a.svm has the index 2 after the index 3.*ascending",
    "1 2:1 2:1": "Line 41 of a.svm has the index 2 after the index 2",
    "1 1.5:2": "Line 41 of a.svm has the index '1.5', which is not a whole number from 0",
    "1 1:2:3": "Line 41 of a.svm: could not convert .*'2:3'",
    "1 3:0x1": "Line 41 of a.svm: could not convert",
    "é 3:1": "Line 41 of a.svm: could not convert .*'é'",
    "1 " + "9" * 5000 + ":1": "Line 41 of a.svm has the index 9999.*too many features.*at most 512 MB",
    "1 200000000:1": "60 examples of 200000000 features, 45,777 MB.*at most 512 MB",
    "1 100000000:1": "60 examples of 100000000 features, 22,889 MB.*at most 512 MB",
    "1 1:inf": "a missing or infinite value in example 40",
    "1 1:1e300": "a missing or infinite value in example 40",
}


@all_cases("line", WRONG_LIBSVM)
def test_a_wrong_line_of_libsvm_text_is_named(line):
    _, _, rows = sparse(np.random.default_rng(0), 60, 9, 1)
    rows[40] = line
    with pytest.raises(DataError, match=WRONG_LIBSVM[line]) as refusal:
        read_upload("a.svm", "\n".join(rows).encode())
    assert len(str(refusal.value)) < 400
    assert refusal.value.accepted


@pytest.mark.parametrize("n", [2_000, 20_000])
def test_text_is_read_in_little_more_memory_than_it_and_its_table_take(n):
    _, _, rows = sparse(np.random.default_rng(0), n // 10, 40, 1)
    content = "\n".join(10 * rows).encode()
    read_upload("a.svm", "\n".join(2 * rows[:9]).encode())  # imports
    tracemalloc.start()
    read_upload("a.svm", content)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 5 * len(content) + 3 * n * 40 * 4 + 1e6


@pytest.mark.parametrize("row", ["1,2", "1 1:2"])
def test_text_that_would_not_fit_when_taken_apart_is_refused_before(monkeypatch, row):
    content = "\n".join(30 * [row]).encode()
    monkeypatch.setattr(text, "MAX_LINES", 20)
    with pytest.raises(DataError, match=r"has 30 lines, the longest of \d bytes"):
        read_upload("a", content)
    monkeypatch.undo()
    monkeypatch.setattr(text, "MAX_LINE", 100)
    with pytest.raises(DataError, match="the longest of 301 bytes"):
        read_upload("a", content + b"\n" + b"1" * 300 + b"\n" + content)


def test_one_long_label_takes_no_room_for_all_others():
    rows = [f"c{k % 2},{k},1.5" for k in range(3000)]
    rows[7] = "z" * 30_000 + ",1,2"
    tracemalloc.start()
    with pytest.raises(Unusable, match="line 8 has a label of 30,000 characters, more than 200"):
        read_upload("a.csv", "\n".join(rows).encode())
    preview = read_upload("a.csv", "\n".join(rows).encode(), skip=True)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert preview.arrays.y_train.shape == (2999,)
    assert most < 1e8
    with pytest.raises(DataError, match="a class name of 30,000 characters"):
        read_upload("a.zip", archive({f"{'z' * 30_000}/{k}.png": image(GREY[0]) for k in range(3)}))
    with pytest.raises(DataError, match=r"labels as texts of 301 characters.*up to 200 characters"):
        read_upload("a.npz", npz(X=GREY, y=np.array(["a", "b" * 301] * 6)))
