"""Pictures of several sizes: brought to one for training, and shown as they were."""

import gc
import io
import threading
import warnings

import numpy as np
import pytest
import tifffile
from PIL import Image

from data import DataError, album, catalogue, revisions
from data.__main__ import main
from data.loaders import bundle, fitted, upload
from data.loaders.fitted import Fit
from data.loaders.images import decode
from data.loaders.sieve import Unusable
from data.transfers import Cancelled
from data.verdicts import OUT, Verdict
from tests.uploads import COLOUR, RNG, archive, exif, image, npz, photograph, read_upload

SIZES = [(20, 30), (31, 17), (40, 40), (24, 26), (90, 33), (20, 31)]
PHOTOGRAPHS = [RNG.integers(0, 256, (*SIZES[k % 6], 3), dtype=np.uint8) for k in range(24)]
FOLDERS = ["train/a", "train/b", "test/a", "test/b", "unlabelled"]


def files():
    """Name -> picture: two classes, a test set and pictures without a label."""
    return {f"{FOLDERS[k % 5]}/{k:02}.png": picture for k, picture in enumerate(PHOTOGRAPHS)}


def kept(title="Photographs"):
    preview = read_upload("p.zip", archive({name: image(picture) for name, picture in files().items()}))
    return catalogue.keep(title, preview.arrays, replace=True), preview


def halves(h, w, left, right):
    picture = np.empty((h, w, 3), np.uint8)
    picture[:, : w // 2], picture[:, w // 2 :] = left, right
    return picture


def test_a_whole_picture_is_padded_with_the_median_of_its_border():
    picture = halves(40, 80, 10, 200)
    picture[1:-1, 1:-1] = 90
    made = Fit(20, 20, "pad").applied(picture)
    assert made.shape == (20, 20, 3)
    border = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
    assert (made[:5] == np.median(border, axis=0)).all()
    assert (made[15:] == np.median(border, axis=0)).all()
    assert (made[7:13, 2:-2] == 90).all()


def test_the_largest_part_in_the_middle_is_cropped_and_a_stretched_picture_keeps_all():
    picture = np.full((40, 100), 250, np.uint8)
    picture[:, 30:70] = 60
    assert (Fit(20, 20, "crop").applied(picture) == 60).all()
    assert (Fit(20, 10, "crop").applied(picture.T) != 60).any()
    stretched = Fit(20, 20, "stretch").applied(picture)
    assert ((stretched == 60).sum(axis=1) >= 6).all()
    assert ((stretched == 250).sum(axis=1) >= 10).all()


@pytest.mark.parametrize("size", [(600, 800), (61, 37), (20, 20), (8, 200)])
@pytest.mark.parametrize("how", fitted.WAYS)
def test_a_grey_picture_stays_grey_at_any_size_and_way(size, how):
    for shape in ((20, 20), (64, 48), (16, 256)):
        made = Fit(*shape, how).applied(np.full(size, 77, np.uint8))
        assert made.shape == shape
        assert (made == 77).all()


def test_reducing_agrees_with_the_mean_of_whole_blocks():
    picture = np.kron(RNG.integers(0, 256, (16, 16)), np.ones((24, 24))).astype(np.uint8)
    made = Fit(16, 16, "stretch").applied(picture).astype(int)
    assert np.abs(made - picture[12::24, 12::24]).mean() < 30  # smoothing reaches into neighbours
    smooth = np.add.outer(np.arange(400) / 4, np.arange(400) / 4).astype(np.uint8)
    means = smooth.reshape(40, 10, 40, 10).mean(axis=(1, 3))
    assert np.abs(Fit(40, 40, "stretch").applied(smooth) - means)[2:-2, 2:-2].max() < 1.5


def test_the_size_proposed_is_the_median_until_training_would_take_long():
    assert fitted.proposed([(20, 30)] * 5, True)[:2] == (20, 30)
    assert fitted.proposed([(20, 30), (40, 60), (30, 50)], False)[:2] == (30, 50)
    for n, sides in ((50, (3000, 4000)), (3000, (480, 640)), (60_000, (480, 640)), (200_000, (30, 3000))):
        fit = fitted.proposed([sides, *[(sides[0] + 1, sides[1])] * (n - 1)], True)
        values = 3 * fit.height * fit.width
        least = fitted.LEAST in fit[:2]
        assert least or (n * values <= 1.05 * fitted.VALUES and n**2 * values <= 1.1 * fitted.PRODUCTS)
        assert least or fit.width / fit.height == pytest.approx(sides[1] / sides[0], rel=0.1)


def test_each_example_is_trained_on_at_one_size_and_shown_as_it_was(home):
    entry, preview = kept()
    assert any("6 sizes, from 31 x 17 to 90 x 33 pixels" in note for note in preview.notes)
    dataset = catalogue.load(entry.name)
    assert dataset.X_train.shape[1:] == (*preview.arrays.X_train.shape[1:3], 3)
    fit = Fit(*dataset.X_train.shape[1:3])
    by_vector = {fit.applied(picture).tobytes(): (name, picture) for name, picture in files().items()}
    seen = set()
    for part, X in (("train", dataset.rows), ("test", dataset.X_test)):
        for row, x in enumerate(X):
            name, picture = by_vector[x.tobytes()]
            shown = dataset.album.picture(int(dataset.in_album(part, row)))
            assert (shown == picture).all(), name
            label = dataset.label(part, row)
            assert name.split("/")[-2] == (label or "unlabelled")
            assert name.startswith("test") == (part == "test")
            seen.add(name)
    assert seen == files().keys()


def test_the_album_does_not_change_what_a_dataset_is(home):
    entry, preview = kept()
    alone = catalogue.keep("Alone", preview.arrays._replace(album=None))
    assert catalogue.load(alone.name).album is None
    assert catalogue.load(alone.name).content_hash == catalogue.load(entry.name).content_hash
    base = catalogue.load(entry.name)
    revisions.add(f"{entry.name}@checked", base, [Verdict("train", 1, base.y_train[1].item(), OUT)])
    assert (catalogue.load(f"{entry.name}@checked").album.picture(1) == base.album.picture(1)).all()


def test_pictures_of_a_file_that_was_replaced_or_deleted_are_grey_and_damaged_ones_too(home):
    entry, _ = kept()
    pictures = catalogue.load(entry.name).album
    path = entry.paths()[0]
    content = path.read_bytes()
    start = content.index(b"\x89PNG")
    path.write_bytes(content[: start + 40] + bytes(200) + content[start + 240 :])
    catalogue.entry(entry.name)
    assert (pictures.picture(0) == album.MISSING).all()
    path.unlink()
    assert (pictures.squares([0, 5], 64) == album.MISSING).all()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"album_of": np.full(24, 99)}, "the stored positions do not fit its pictures"),
        ({"album_of": np.zeros(3, np.int64)}, "do not match its 24 examples"),
        ({"album_ends": np.arange(25)}, "the stored positions do not fit its pictures"),
        ({"album_ends": np.array([0])}, "the stored positions do not fit its pictures"),
    ],
)
def test_an_album_that_does_not_fit_its_examples_is_damage(home, change, said):
    entry, _ = kept()
    path = entry.paths()[0]
    with np.load(path) as arrays:
        arrays = dict(arrays) | change
    np.savez(path, **arrays)
    damaged = catalogue.damaged()
    with pytest.raises(DataError, match=said):
        raise DataError(damaged[0].reason) if damaged else catalogue.load(entry.name) and DataError("not refused")


@pytest.mark.parametrize(
    ("picture", "said"),
    [
        (image(np.zeros((9, 4097), np.uint8)), "9 x 4097 pixels.*4096 x 4096"),
        (image(PHOTOGRAPHS[0])[:300], "x.png cannot be read"),
        (b"", "x.png is empty"),
    ],
)
def test_bad_pictures_are_named_and_left_out_with_their_reason(picture, said):
    packed = archive({name: image(one) for name, one in files().items()} | {"train/a/x.png": picture})
    with pytest.raises(Unusable, match=said):
        read_upload("p.zip", packed)
    preview = read_upload("p.zip", packed, skip=True)
    assert any("1 of 25 files left out: train/a/x.png" in note for note in preview.notes)


def test_planes_of_16_bits_are_read_right_or_refused():
    planes = RNG.integers(0, 1 << 16, (3, 8, 9), dtype=np.uint16)

    def tif(compression):
        file = io.BytesIO()
        tifffile.imwrite(file, planes, photometric="rgb", planarconfig="separate", compression=compression)
        return file.getvalue()

    assert np.array_equal(decode("x.tif", tif("zlib")).pixels, np.moveaxis(planes >> 8, 0, -1))
    with pytest.raises(DataError, match=r"x\.tif has colours of more than 8 bits .* plane by plane"):
        decode("x.tif", tif(None))


def test_an_animation_is_named_with_its_frames():
    file = io.BytesIO()
    frames = [Image.fromarray(picture) for picture in (PHOTOGRAPHS[0], PHOTOGRAPHS[6], PHOTOGRAPHS[12])]
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    packed = archive({name: image(one) for name, one in files().items()} | {"train/a/x.gif": file.getvalue()})
    with pytest.raises(Unusable, match=r"x\.gif has 3 frames.*not animated"):
        read_upload("p.zip", packed)


def test_images_for_validation_and_classes_of_several_folders_are_told():
    def notes(*folders):
        files = {f"{folder}/{k}.png": image(COLOUR[k]) for folder in folders for k in range(3)}
        return read_upload("a.zip", archive(files)).notes

    split = [f"{part}/{kind}" for part in ("train", "Val", "test") for kind in ("cat", "dog")]
    assert notes(*split) == ("Images for validation are added to the training set: 6",)
    assert notes(*split[:2], *split[4:]) == ()
    years = "Folders of the same name are one class, such as cats/2021 and dogs/2021"
    assert notes("cats/2021", "dogs/2021", "dogs/2022") == (years,)
    assert notes(*(f"{kind}/{year}" for kind in ("cats", "dogs") for year in (2021, 2022))) == (
        f"{years} (2 classes are in several folders)",
    )


def test_a_zip_within_a_zip_is_refused_by_name():
    inner = archive({f"{kind}/{k}.png": image(COLOUR[k]) for kind in ("cat", "dog") for k in range(2)})
    with pytest.raises(DataError, match=r"inner\.zip is a zip file inside another.*all files in one zip"):
        read_upload("outer.zip", archive({"inner.zip": inner}))


def test_pictures_on_their_side_are_measured_and_shown_upright():
    turned = np.ascontiguousarray(np.rot90(PHOTOGRAPHS[1]))
    turned = {f"a/turned.{form}": photograph(turned, exif(6), form) for form in ("png", "tiff")}
    other = {f"{'ab'[k % 2]}/{k}.png": image(PHOTOGRAPHS[1]) for k in range(4)}
    preview = read_upload("p.zip", archive(other | turned))
    assert preview.arrays.album is None  # all have one size, so they are the examples themselves
    assert (preview.arrays.X_train == PHOTOGRAPHS[1]).all()


def test_grey_values_are_trained_on_and_colours_shown():
    packed = archive({name: image(picture) for name, picture in files().items()})
    preview = read_upload("p.zip", packed, fit=Fit(20, 20, "stretch", colour=False))
    assert preview.arrays.X_train.shape[1:] == (20, 20)
    assert preview.arrays.album.picture(0).ndim == 3


def test_colours_are_shown_where_pictures_of_one_size_are_trained_on_in_grey():
    same = {f"{'ab'[k % 2]}/{k}.png": image(RNG.integers(0, 256, (20, 30, 3), dtype=np.uint8)) for k in range(6)}
    preview = read_upload("p.zip", archive(same), fit=Fit(20, 30, colour=False))
    assert preview.arrays.X_train.shape == (6, 20, 30)
    shown = {preview.arrays.album.picture(k).tobytes() for k in range(6)}
    assert shown == {np.asarray(Image.open(io.BytesIO(content))).tobytes() for content in same.values()}
    assert not any("brought to" in note for note in preview.notes)


def test_a_large_jpeg_is_decoded_at_a_part_of_its_sides_and_looks_alike():
    smooth = np.kron(RNG.integers(40, 220, (6, 8, 3)), np.ones((200, 200, 1))).astype(np.uint8)
    content, fit = photograph(smooth, exif(6), "JPEG"), Fit(48, 36)
    upright = np.rot90(smooth, -1)
    part = decode("a.jpg", content, fit.share(upright.shape[:2], 300)).pixels
    assert part.shape == (400, 300, 3)
    assert fit.share(upright.shape[:2], 1600) == 1
    assert np.abs(fit.applied(part).astype(int) - fit.applied(upright)).mean() < 2
    assert decode("a.png", image(smooth), 0.1).pixels.shape == smooth.shape


def test_images_are_read_one_by_one_and_may_take_more_than_other_files(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "MAX_BYTES", 1 << 16)
    packed = archive({name: image(picture) for name, picture in files().items()} | {"a.txt": bytes(1 << 16)})
    assert len(read_upload("p.zip", packed, skip=True).arrays.X_train) == 14
    (tmp_path / "p.zip").write_bytes(packed)
    assert len(read_upload("p", tmp_path / "p.zip", skip=True).arrays.X_train) == 14
    with pytest.raises(DataError, match=r"a\.zip unpacks to"):
        read_upload("a.zip", archive({"a.csv": bytes(1 << 16), "b.csv": b"1"}))
    monkeypatch.setattr(bundle, "MAX_IMAGES", 1 << 16)
    with pytest.raises(DataError, match=r"p\.zip unpacks to"):
        read_upload("p.zip", packed)


def test_a_size_or_way_that_is_not_possible_is_refused_by_name():
    packed = archive({name: image(picture) for name, picture in files().items()})
    for fit, said in ((Fit(3, 20), "3 x 20 is not possible"), (Fit(20, 20, "squeeze"), "no way 'squeeze'")):
        with pytest.raises(DataError, match=said):
            read_upload("p.zip", packed, fit=fit)


@pytest.mark.parametrize("phase", ["sizes", "range", "Reading images"])
def test_reading_stops_at_the_next_report_and_leaves_no_thread(phase):
    deep = {f"{'ab'[k % 2]}/{k}.png": image(RNG.integers(0, 4000, SIZES[k % 6]).astype(np.uint16)) for k in range(60)}
    opened, seen = upload.opened("p.zip", archive(deep)), []
    before = {thread.ident for thread in threading.enumerate()}

    def report(done, total, message):
        seen.append((done, total, message))
        if phase in message and done == 7:
            raise Cancelled

    with pytest.raises(Cancelled):
        opened.read(report=report)
    assert seen[-1][:2] == (7, 60)
    assert {thread.ident for thread in threading.enumerate()} <= before
    assert len(opened.read().arrays.X_train) == 60


def test_stored_pictures_are_reduced_so_that_all_fit():
    for n in (1, 300, 3000, 60_000, 200_000):
        side = album.side_of(n)
        assert 64 <= side <= album.LARGEST
        assert side == 64 or n * album.DENSITY * side**2 <= 1.05 * album.MAX_BYTES
    photograph_ = np.kron(RNG.integers(60, 200, (40, 50, 3)), np.ones((32, 32, 1))).astype(np.uint8)
    stored = album.Album.bound([album.encoded(photograph_, 512)])
    assert stored.picture(0).shape == (410, 512, 3)
    assert np.abs(stored.picture(0, 100).astype(int).mean() - photograph_.mean()) < 3


def test_the_command_stores_pictures_as_the_page_does(home, tmp_path, capsys, monkeypatch):
    for name, picture in files().items():
        (tmp_path / "pets" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pets" / name).write_bytes(image(picture))
    path = str(tmp_path / "pets")
    assert main(["keep", path, "--size", "24x32", "--fit", "crop"]) == 0
    said = capsys.readouterr()
    assert "own:pets: 10 training and 10 test examples, 2 classes" in said.out
    assert "brought to 24 x 32: crop the centre" in said.out
    dataset = catalogue.load("own:pets")
    assert dataset.X_train.shape[1:] == (24, 32, 3)
    assert main(["keep", path]) == 1
    assert "There is already a dataset 'own:pets'" in capsys.readouterr().err
    assert main(["keep", path, "--replace", "--grey"]) == 0
    assert catalogue.load("own:pets").X_train.ndim == 3
    assert main(["keep", path, "--size", "big"]) == 1
    assert "The size 'big' cannot be read. Accepted: height x width" in capsys.readouterr().err
    monkeypatch.chdir(path)
    with monkeypatch.context() as changed:  # what is wrong with a name is said before a pixel is read
        changed.setattr("data.loaders.images.decode", lambda *_: pytest.fail("a picture was read"))
        for how, reason in (["."], "already a dataset 'own:pets'"), ([".", "--name", "قهوة"], "no letter a-z"):
            assert main(["keep", *how]) == 1
            assert reason in capsys.readouterr().err
    monkeypatch.setattr("data.__main__.opened", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    assert main(["keep", path]) == 130
    assert "Nothing is stored" in capsys.readouterr().err


def test_a_zip_on_this_machine_is_closed_when_it_has_been_read(tmp_path):
    path = tmp_path / "p.zip"
    path.write_bytes(archive({name: image(picture) for name, picture in files().items()}))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert len(read_upload("p.zip", path).arrays.X_test) == 10
        gc.collect()
    unclosed = [str(one.message) for one in said if issubclass(one.category, ResourceWarning)]
    assert [file for file in unclosed if str(path) in file] == []  # what other tests left may be collected here too


def test_the_command_names_skip_where_it_helps_and_refuses_options_that_say_nothing(home, tmp_path, capsys):
    good = {name: image(one) for name, one in files().items()}
    (tmp_path / "p.zip").write_bytes(archive(good | {"train/a/x.png": b"none"}))
    assert main(["keep", str(tmp_path / "p.zip")]) == 1
    assert capsys.readouterr().err.rstrip().endswith("With --skip the other 24 files are read.")
    assert not catalogue.own.entries()
    assert main(["keep", str(tmp_path / "p.zip"), "--skip"]) == 0
    (tmp_path / "f.npz").write_bytes(npz(X=np.eye(4), y=np.array([0, 0, 1, 1])))
    for options in (["--size", "9x9"], ["--grey"], ["--group", "who"], ["--label", "y"]):
        assert main(["keep", str(tmp_path / "f.npz"), *options]) == 1
        assert "npz" in capsys.readouterr().err
