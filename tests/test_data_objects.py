"""Objects as annotation tools export them: read right, or refused with the file, the place and what is allowed."""

import json
from itertools import groupby
from urllib.parse import quote

import numpy as np
import pytest

from data import DataError
from data.loaders.pictures import are_pictures, read_pictures
from tests.annotations import (
    ALL,
    CARS,
    ROBOFLOW,
    SAME,
    H,
    W,
    coco,
    cvat,
    files_of,
    label_studio,
    label_studio_csv,
    label_studio_min,
    labelme,
    open_images,
    per_cent,
    pictures,
    table,
    via,
    via_csv,
    voc,
    yolo,
    yolo_line,
)
from tests.cases import all_cases
from tests.uploads import GREY, PAIR, archive, tree


@all_cases("tool", SAME)
@all_cases("packed", [False, True], ids=["files", "zip"])
def test_what_a_tool_exports_is_read(tool, packed):
    given = files_of(SAME[tool])
    given = [("town.zip", archive(dict(given)))] if packed else given
    assert are_pictures(given)
    upload = read_pictures(given)
    assert sorted(upload.boxes.round(3).tolist()) == sorted(ALL)
    assert upload.picture.tolist() == [0, 1, 1]
    assert len(upload.images) == 3
    assert upload.kinds == ("car",)
    assert upload.shape == "box"


def test_circles_and_what_is_around_other_shapes():
    shapes = {"name": "circle", "cx": 20, "cy": 15, "r": 5}, {"name": "ellipse", "cx": 20, "cy": 15, "rx": 5, "ry": 4}
    polygon = {"name": "polygon", "all_points_x": [3, 15, 9], "all_points_y": [10, 10, 30]}
    found = {f"{n}.png9": {"filename": f"{n}.png", "regions": [{"shape_attributes": s} for s in of]}
             for n, of in zip("ab", ([shapes[1]], [polygon]))}  # fmt: skip
    upload = read_pictures(files_of({**pictures(), "v.json": json.dumps(found)}))
    assert upload.boxes.tolist() == [[15, 11, 25, 19], [3, 10, 15, 30]]
    found = {f"{n}.png9": {"filename": f"{n}.png", "regions": [{"shape_attributes": shapes[0]}]} for n in "ab"}
    assert read_pictures(files_of({**pictures(), "v.json": json.dumps(found)})).shape == "circle"
    seg = "0 0.1 0.1 0.5 0.1 0.5 0.5 0.1 0.5\n"
    upload = read_pictures(files_of({**pictures(), "a.txt": seg, "b.txt": seg, "c.txt": ""}))
    assert upload.boxes.tolist() == 2 * [[6, 4, 30, 20]]
    value = per_cent((30, 10, 40, 14), rotation=90)  # about its first corner, in pixels: the picture is no square
    result = [{"type": "rectanglelabels", "value": value}]
    turned = [{"data": {"image": f"{n}.png"}, "annotations": [{"result": result}]} for n in "ab"]
    upload = read_pictures(files_of({**pictures(), "p.json": json.dumps(turned)}))
    assert upload.boxes.tolist() == 2 * [[26, 10, 30, 20]]


def drawn(kind, rng, track):
    """The numbers of a random object in a YOLO file of this kind, as texts, and its box in pixels."""
    x, x2 = sorted(rng.choice(np.arange(1, W), 2, replace=False))
    y, y2 = sorted(rng.choice(np.arange(1, H), 2, replace=False))
    x2, y2 = max(x2, x + 3), max(y2, y + 3)
    box = [(x + x2) / 2 / W, (y + y2) / 2 / H, (x2 - x) / W, (y2 - y) / H]
    points = lambda n: np.column_stack([rng.uniform(x, x2, n) / W, rng.uniform(y, y2, n) / H])  # noqa: E731
    if kind == "rotated":
        u, v = (x2 - x) / 3, (y2 - y) / 3
        corners = np.array([(x + u, y), (x2, y + v), (x2 - u, y2), (x, y2 - v)]) / (W, H)
        numbers = np.roll(corners, rng.integers(4), axis=0).ravel().tolist()
    elif kind.startswith("polygon"):
        touching = np.array([(x, y), (x2, y), (x2, y2), (x, y2)]) / (W, H)
        numbers = np.vstack([touching[: 1 + 2 * (rng.random() < 0.5)], points(rng.integers(2, 6)), touching[2:3]])
        numbers = numbers.ravel().tolist()
    elif kind.startswith("keypoints, x y v"):
        seen = rng.choice([0, 1, 2], (3, 1)) if "confidence" not in kind else rng.random((3, 1))
        numbers = [*box, *np.hstack([points(3), seen]).ravel().tolist()]
    elif kind.startswith("keypoints"):
        numbers = [*box, *points(2).ravel().tolist()]
    else:
        numbers = box
    texts = [f"{number:.9g}" for number in numbers]
    texts += [f"{rng.random():.6g}"] * ("confidence" in kind) + [str(track)] * ("track" in kind)
    return "0 " + " ".join(texts), [x, y, x2, y2]


LONG_LINES = {  # kind -> whether a yaml decides
    "boxes with confidence and track": False,
    "polygons": False,
    "polygons with confidence": False,
    "polygons with confidence and track": False,
    "rotated": False,
    "keypoints, x y v": False,
    "keypoints, x y v with confidence": True,
    "keypoints, x y": True,
    "keypoints, x y with confidence": True,
    "keypoints, x y with confidence and track": True,
}


def drawn_upload(kind, rng, n):
    """n objects in each of two pictures: the text files, and the boxes."""
    lines, boxes = zip(*(drawn(kind, rng, track) for track in range(1, 2 * n + 1)))
    return {"a.txt": "\n".join(lines[:n]), "b.txt": "\n".join(lines[n:])}, list(boxes)


@all_cases("kind", LONG_LINES)
def test_long_lines_of_yolo_are_read_as_what_they_are_or_refused(kind):
    """Of many random uploads none is read wrongly; most are read if a yaml decides, or there are ten objects."""
    rng = np.random.default_rng(0)
    shape = {"keypoints, x y v": "kpt_shape: [3, 3]\n", "keypoints, x y": "kpt_shape:\n- 2\n- 2\n"}
    stated = next((line for name, line in shape.items() if kind.startswith(name)), "")
    for yaml, n in (("", 1), ("", 5), (f"names: [car]\n{stated}", 5)):
        read = 0
        for _ in range(20):
            files, boxes = drawn_upload(kind, rng, n)
            try:
                upload = read_pictures(files_of({**pictures(), **files, **({"data.yaml": yaml} if yaml else {})}))
            except DataError as refusal:
                assert "numbers may be a" in str(refusal), refusal  # noqa: PT017
                continue
            read += 1
            assert upload.boxes.shape == (len(boxes), 4)
            np.testing.assert_allclose(sorted(upload.boxes.tolist()), sorted(boxes), atol=2e-3)
        assert read >= (20 if yaml else 16 if n == 5 and not LONG_LINES[kind] else 0)


def test_a_line_of_yolo_that_may_be_two_things_is_refused_with_a_way_out():
    quad = "0 0.5 0.5 0.2 0.2 0.45 0.45 0.55 0.55\n"  # a box with two keypoints, or four corners
    given = {**pictures(), "a.txt": quad, "b.txt": quad}
    with pytest.raises(DataError, match=r"9 numbers may be a box with further numbers or a polygon.*kpt_shape"):
        read_pictures(files_of(given))
    for yaml, box in ("kpt_shape: [2, 2]", [24, 16, 36, 24]), ("names: [car]", [12, 8, 33, 22]):
        upload = read_pictures(files_of({**given, "data.yaml": yaml}))
        assert upload.boxes.tolist() == [box, box]
        said = "as boxes; the keypoints" if "kpt" in yaml else "as polygons"
        assert any(f"more than 6 numbers are read {said}" in note for note in upload.notes)
    with pytest.raises(DataError, match=r"a\.txt, line 1: 9 numbers, but kpt_shape asks for 56"):
        read_pictures(files_of({**given, "data.yaml": "kpt_shape: [17, 3]"}))
    one_bad = {**given, "a.txt": quad + "0 .5 .5 .2 .2 .4 .4 .5\n", "data.yaml": "kpt_shape: [2, 2]"}
    with pytest.raises(DataError, match=r"a\.txt, line 2: 8 numbers, but kpt_shape asks for 9"):
        read_pictures(files_of(one_bad))
    assert len(read_pictures(files_of(one_bad), skip=True).boxes) == 2


@pytest.mark.parametrize("written", [float, str])
@pytest.mark.parametrize("where", [("image_id",), ("category_id",), ("image_id", "category_id")])
def test_ids_of_coco_are_the_same_however_they_are_written(written, where):
    whole = json.loads(coco())
    for annotation in whole["annotations"]:
        annotation |= {name: written(annotation[name]) for name in where}
    upload = read_pictures(files_of({**pictures(), "instances.json": json.dumps(whole)}))
    assert sorted(upload.boxes.round(3).tolist()) == sorted(ALL)
    assert upload.kinds == ("car",)


def masked(box, rng):
    """(H, W) bool, its pixels somewhere in a box, each of whose sides they touch."""
    x, y, x2, y2 = box
    mask = np.zeros((H, W), bool)
    mask[y:y2, x:x2] = rng.random((y2 - y, x2 - x)) < rng.choice([0.1, 0.5, 1])
    mask[rng.integers(y, y2), [x, x2 - 1]] = mask[[y, y2 - 1], rng.integers(x, x2)] = True
    return mask


def run_lengths(mask, compressed):
    """The mask as COCO writes it, by runs of its pixels column by column, the first of them empty."""
    runs = [(bool(value), len(list(run))) for value, run in groupby(mask.T.ravel().tolist())]
    counts = [*([0] if runs[0][0] else []), *(n for _, n in runs)]
    if not compressed:
        return {"counts": counts, "size": list(mask.shape)}
    letters = []
    for k, count in enumerate(counts):
        n = count - counts[k - 2] if k > 2 else count
        while not -16 <= n < 16:
            letters.append(48 + 32 + n % 32)
            n //= 32
        letters.append(48 + n % 32)
    return {"counts": bytes(letters).decode(), "size": list(mask.shape)}


@pytest.mark.parametrize("compressed", [False, True], ids=["counts", "text"])
@pytest.mark.parametrize("seed", range(5))
def test_without_a_box_coco_has_the_one_around_its_mask(compressed, seed):
    whole, rng = json.loads(coco()), np.random.default_rng(seed)
    for annotation in whole["annotations"]:
        x, y, w, h = annotation.pop("bbox")
        annotation["segmentation"] = run_lengths(masked((x, y, x + w, y + h), rng), compressed)
    upload = read_pictures(files_of({**pictures(), "instances.json": json.dumps(whole)}))
    assert sorted(upload.boxes.tolist()) == sorted(ALL)


PYCOCOTOOLS = f"[6l0<{69 * '0'}eg0"


def test_a_mask_as_pycocotools_writes_it():
    """The text is what pycocotools.mask.encode gives for rows 3 to 30 of columns 5 to 40 in 40 x 60 pixels."""
    whole = json.loads(coco())
    whole["annotations"][0] |= {"bbox": None, "segmentation": {"size": [H, W], "counts": PYCOCOTOOLS}}
    upload = read_pictures(files_of({**pictures(), "instances.json": json.dumps(whole)}))
    assert upload.boxes[0].tolist() == [5, 3, 41, 31]


def test_without_a_box_coco_has_the_one_around_all_its_polygons():
    whole = json.loads(coco())
    whole["annotations"][0] |= {"bbox": [], "segmentation": [[6, 4, 12, 4, 12, 9], [20, 11, 30, 20, 25, 20]]}
    upload = read_pictures(files_of({**pictures(), "instances.json": json.dumps(whole)}))
    assert upload.boxes[0].tolist() == [6, 4, 30, 20]


BAD_MASKS = {
    "more than its size": {"size": [H, W], "counts": [3, H * W]},
    "no pixel": {"size": [H, W], "counts": [9]},
    "a fraction": {"size": [H, W], "counts": [3, 2.5]},
    "below 0": {"size": [H, W], "counts": [3, -1]},
    "no size": {"counts": [3, 9]},
    "no counts": {"size": [H, W]},
    "cut off": {"size": [H, W], "counts": "S3"},
    "no letters of a mask": {"size": [H, W], "counts": "\u20ac!"},
}


@pytest.mark.parametrize("which", BAD_MASKS)
def test_a_bad_mask_is_refused_with_its_place(which):
    whole = json.loads(coco())
    whole["annotations"][1] |= {"bbox": None, "segmentation": BAD_MASKS[which]}
    with pytest.raises(DataError, match=r"instances\.json, annotations\[1\], segmentation.*(mask|2 numbers)"):
        read_pictures(files_of({**pictures(), "instances.json": json.dumps(whole)}))


def labelled_beside(tool):
    """The files of a tool with annotations beside the boxes that are none, how many there are, and what they are
    called."""
    if tool == "COCO":
        whole = json.loads(coco())
        whole["annotations"] += 2 * [whole["annotations"][0] | {"iscrowd": 1}]
        return {"i.json": json.dumps(whole)}, "2 annotations are ignored: crowd (2)"
    if tool == "labelme":
        whole = json.loads(labelme("a"))
        for form, points in ("point", [[3, 4]]), ("line", [[3, 4], [8, 4]]), ("linestrip", [[3, 4], [8, 4], [9, 9]]):
            whole["shapes"] += [{"label": "car", "shape_type": form, "points": points}]
        files = {"a.json": json.dumps(whole), "b.json": labelme("b")}
        return files, "3 annotations are ignored: point (1), line (1), linestrip (1)"
    if tool in ("VIA", "VIA, csv"):
        point = {"name": "point", "cx": 5, "cy": 9}
        if tool == "VIA, csv":
            cells = json.dumps(point).replace('"', '""')
            return {"v.csv": f'{via_csv()}\nb.png,99,{{}},9,7,"{cells}",{{}}'}, "1 annotation is ignored: "
        whole = json.loads(via())
        whole["a.png99"]["regions"] += 2 * [{"shape_attributes": point, "region_attributes": {}}]
        return {"v.json": json.dumps(whole)}, "2 annotations are ignored: point (2)"
    point, stroke = {"x": 5, "y": 9, "width": 1, "keypointlabels": ["car"]}, {"rle": [1, 2], "brushlabels": ["car"]}
    said = "2 annotations are ignored: keypointlabels (1), brushlabels (1)"
    if tool == "Label Studio, minimal":
        whole = json.loads(label_studio_min())
        whole[0]["point"], whole[1]["stroke"] = [point], [stroke]
        return {"p.json": json.dumps(whole)}, said
    if tool == "Label Studio, csv":
        cell = json.dumps([point, stroke]).replace('"', '""')
        return {"p.csv": f'{label_studio_csv()}\n/data/1/a.png,9,"{cell}",1,9,2'}, said
    whole = json.loads(label_studio())
    whole[0]["annotations"][0]["result"] += [{"type": "choices", "value": {"choices": ["day"]}}, {"type": "textarea"}]
    whole[1]["annotations"][0]["result"] += [{"type": "choices", "value": {"choices": ["night"]}}, {"type": "relation"}]
    said = "4 annotations are ignored: choices (2), textarea (1), relation (1)"
    return {"p.json": json.dumps(whole)}, said


def video(frames, *more, pictured="frame_{:06}.PNG"):
    """What CVAT exports of a video: (track's label, frame, box, outside) each, and the images by their numbers."""
    boxes = "".join(
        f'<track id="{k}" label="{label}"><box frame="{frame}" keyframe="1" outside="{out}" occluded="0" xtl="{a}.00" '
        f'ytl="{b}.00" xbr="{c}.00" ybr="{d}.00" z_order="0"><attribute name="on">x</attribute></box></track>'
        for k, (label, frame, (a, b, c, d), out) in enumerate(frames)
    )
    xml = f'<?xml version="1.0"?><annotations><meta/>{boxes}{"".join(more)}</annotations>'
    images = zip((8, 9, 10), pictures().values())
    return {"annotations.xml": xml, **{f"images/{pictured.format(n)}": one for n, one in images}}


DRIVEN = [("car", 8, (6, 4, 30, 20), 0), ("car", 9, (3, 10, 15, 30), 0), ("car", 9, (30, 8, 54, 24), 0)]
OUTSIDE = [("car", 10, (30, 8, 54, 24), 1), ("car", 11, (0, 0, 0, 0), 1)]


@pytest.mark.parametrize("pictured", ["frame_{:06}.PNG", "frame_{:06}.jpg"])
def test_a_video_of_cvat_has_one_picture_a_frame_and_its_boxes_outside_are_ignored(pictured):
    point = '<track id="9" label="car"><points frame="8" outside="0" points="1,2"/></track>'
    given = files_of(video(DRIVEN + OUTSIDE, point, pictured=pictured))
    assert are_pictures(given)
    upload = read_pictures(given)
    assert sorted(upload.boxes.tolist()) == sorted(ALL)
    assert [upload.names[k][-8:-4] for k in upload.picture] == ["0008", "0009", "0009"]
    assert len(upload.images) == 3
    assert "3 annotations are ignored: box outside its frame (2), points (1)" in upload.notes


def test_a_frame_without_an_image_or_a_number_is_named():
    for frames, said in (
        ([*DRIVEN, ("car", 7, (1, 1, 9, 9), 0)], r"track 4, frame 7: there is no image 'frame_000007\.png'"),
        ([*DRIVEN, ("car", "", (1, 1, 9, 9), 0)], r"track 4, frame: no value.*the number of a frame"),
        ([*DRIVEN, ("car", "²", (1, 1, 9, 9), 0)], r"track 4, frame: invalid value '²'.*the number of a frame"),
    ):
        with pytest.raises(DataError, match=said):
            read_pictures(files_of(video(frames)))
        assert len(read_pictures(files_of(video(frames)), skip=True).boxes) == 3
    with pytest.raises(DataError, match=r"there is no image 'frame_000008\.png'; .*frame_000000\.png for"):
        read_pictures(files_of(video(DRIVEN, pictured="clip_{}.png")))


def test_a_turned_box_of_cvat_becomes_the_upright_box_around_it():
    angle, (cx, cy), (w, h) = np.radians(25), (25, 18), (20, 8)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    corners = np.array([(x, y) for x in (-w / 2, w / 2) for y in (-h / 2, h / 2)]) @ turn.T
    round_ = np.linspace(0, 2 * np.pi, 100_000)
    outline = np.column_stack([w / 2 * np.cos(round_), h / 2 * np.sin(round_)]) @ turn.T
    shapes = {
        "a": '<box label="car" xtl="15" ytl="14" xbr="35" ybr="22" rotation="25.00"/>',
        "b": '<ellipse label="car" cx="25" cy="18" rx="10" ry="4" rotation="25.00"/>',
        "c": '<mask label="car" rle="9,9" left="3" top="10" width="12" height="20"/>',
    }
    found = "".join(f'<image name="{name}.png">{shape}<tag label="x"/></image>' for name, shape in shapes.items())
    upload = read_pictures(files_of({**pictures(), "annotations.xml": f"<annotations>{found}</annotations>"}))
    for box, points in zip(upload.boxes, (corners, outline)):
        low, high = points.min(0), points.max(0)
        assert box == pytest.approx([cx + low[0], cy + low[1], cx + high[0], cy + high[1]], abs=1e-3)
    assert upload.boxes[2].tolist() == [3, 10, 15, 30]
    assert "3 annotations are ignored: tag (3)" in upload.notes


BESIDE = ("COCO", "labelme", "VIA", "VIA, csv", "Label Studio", "Label Studio, minimal", "Label Studio, csv")


@pytest.mark.parametrize("tool", BESIDE)
def test_what_is_no_box_is_ignored_and_counted(tool):
    files, said = labelled_beside(tool)
    for kinds in (), ("car",):
        upload = read_pictures(files_of({**pictures(), **files}), kinds=kinds)
        assert sorted(upload.boxes.round(3).tolist()) == sorted(ALL)
        assert sum(note.startswith(said) for note in upload.notes) == 1


ZIGZAG = [(1, 1), (20, 30), (41, 2)]


@pytest.mark.parametrize("tool", ["CVAT", "CVAT, video", "VIA", "VIA, csv", "labelme"])
def test_lines_have_no_extent_and_are_ignored_in_every_format(tool):
    line = {"name": "polyline", "all_points_x": [x for x, _ in ZIGZAG], "all_points_y": [y for _, y in ZIGZAG]}
    points = ";".join(f"{x},{y}" for x, y in ZIGZAG)
    if tool == "CVAT":
        xml = cvat().replace("</image>", f'<polyline label="car" points="{points}"/></image>', 1)
        given = {**pictures(), "annotations.xml": xml}
    elif tool == "CVAT, video":
        track = f'<track id="9" label="car"><polyline frame="8" outside="0" points="{points}"/></track>'
        given = video(DRIVEN, track)
    elif tool == "VIA":
        whole = json.loads(via())
        whole["a.png99"]["regions"].append({"shape_attributes": line, "region_attributes": {}})
        given = {**pictures(), "v.json": json.dumps(whole)}
    elif tool == "VIA, csv":
        cells = json.dumps(line).replace('"', '""')
        given = {**pictures(), "v.csv": f'{via_csv()}\nb.png,99,{{}},9,7,"{cells}",{{}}'}
    else:
        whole = json.loads(labelme("a"))
        whole["shapes"].append({"label": "car", "shape_type": "linestrip", "points": ZIGZAG})
        given = {**pictures(), "a.json": json.dumps(whole), "b.json": labelme("b")}
    upload = read_pictures(files_of(given))
    assert sorted(upload.boxes.round(3).tolist()) == sorted(ALL)
    name = "linestrip" if tool == "labelme" else "polyline"
    assert f"1 annotation is ignored: {name} (1)" in upload.notes


@pytest.mark.parametrize("written", [1, 1.0, "1", True])
def test_a_crowd_of_coco_is_no_object_however_it_is_written(written):
    whole = json.loads(coco())
    crowd = whole["annotations"][0] | {"bbox": [1, 1, 50, 30], "iscrowd": written}
    whole["annotations"] += [crowd, crowd | {"image_id": 6}]
    for annotation, single in zip(whole["annotations"], (0, 0.0, "0")):
        annotation["iscrowd"] = single
    upload = read_pictures(files_of({**pictures(), "i.json": json.dumps(whole)}))
    assert sorted(upload.boxes.tolist()) == sorted(ALL)
    assert "2 annotations are ignored: crowd (2)" in upload.notes


def test_a_group_of_openimages_is_no_object():
    head, *rows = open_images().split("\n")
    rows = [f"{row},{group}" for row, group in zip(rows, ["0", "-1", "0"])]
    table_ = "\n".join([f"{head},IsGroupOf", *rows, "b,x,car,1,0.1,0.9,0.1,0.8,1"])
    upload = read_pictures(files_of({**pictures(), "o.csv": table_}))
    assert sorted(upload.boxes.round(3).tolist()) == sorted(ALL)
    assert "1 annotation is ignored: crowd (1)" in upload.notes


@pytest.mark.parametrize("written", [5, 5.0, "5"])
def test_two_images_or_categories_of_coco_with_one_id_are_refused(written):
    whole = json.loads(coco())
    whole["images"].append({"id": written, "file_name": "c.png"})
    given = files_of({**pictures(), "i.json": json.dumps(whole)})
    with pytest.raises(DataError, match=r"i\.json, images\[3\], id: 5 is the id of another image"):
        read_pictures(given)
    with pytest.raises(DataError, match="objects in fewer than two pictures"):  # those of image 5 are in neither image
        read_pictures(given, skip=True)
    whole["images"][-1]["file_name"] = "a.png"  # the same image again
    assert len(read_pictures(files_of({**pictures(), "i.json": json.dumps(whole)})).boxes) == 3
    whole["categories"].append({"id": 2, "name": "cat"})
    with pytest.raises(DataError, match=r"categories car and cat have the same id, 2"):
        read_pictures(files_of({**pictures(), "i.json": json.dumps(whole)}))


def second_annotator(tool, truth):
    """The files of a tool with the boxes of another annotator, 2 pixels to the right, behind those of the first."""
    moved = {n: [per_cent((x + 2, y, x2 + 2, y2)) for x, y, x2, y2 in boxes] for n, boxes in CARS.items()}
    if tool == "Label Studio":
        whole = json.loads(label_studio())
        for task, boxes in zip(whole, moved.values()):
            result = [{"type": "rectanglelabels", "value": value} for value in boxes]
            task["annotations"].append({"result": result, "ground_truth": truth})
        whole[1]["annotations"].append({"was_cancelled": True, "result": result})
        whole[2]["annotations"].append({"result": []})
        return {"p.json": json.dumps(whole)}
    if tool == "Label Studio, minimal":
        whole = [task | {"annotation_id": k} for k, task in enumerate(json.loads(label_studio_min()))]
        again = [task | {"annotation_id": k + 9, "label": moved[n]} for k, (n, task) in enumerate(zip("ab", whole))]
        return {"p.json": json.dumps(whole + again)}
    head, *rows = label_studio_csv().replace(",9,2.5", ",4,2.5").split("\n")
    again = ['"' + json.dumps(moved[n]).replace('"', '""') + '"' for n in "ab"]
    again = [f"/data/upload/1/1a2b3c4d-{n}.png,{k},{cell},2,8,1" for k, (n, cell) in enumerate(zip("ab", again))]
    return {"p.csv": "\n".join([head, *rows, *again])}


@pytest.mark.parametrize("tool", ["Label Studio", "Label Studio, minimal", "Label Studio, csv"])
@pytest.mark.parametrize("truth", [False, True])
def test_of_several_annotators_one_is_read_and_the_others_are_counted(tool, truth):
    upload = read_pictures(files_of({**pictures(), **second_annotator(tool, truth)}))
    right = 2 * (truth and tool == "Label Studio")
    assert sorted(upload.boxes.round(3).tolist()) == sorted([x + right, y, x2 + right, y2] for x, y, x2, y2 in ALL)
    assert "3 annotations are ignored: region of another annotator (3)" in upload.notes


@pytest.mark.parametrize("tool", ["VOC", "labelme"])
def test_a_picture_that_two_files_annotate_is_told(tool):
    ending, written = ("xml", voc) if tool == "VOC" else ("json", labelme)
    given = {**pictures(), **{f"one/{n}.{ending}": written(n) for n in "ab"}}
    other = voc("b", boxes=[(4, 11, 16, 31)]) if tool == "VOC" else labelme("b").replace("[15, 30]", "[16, 31]")
    if tool == "labelme":
        other = json.dumps(json.loads(other) | {"shapes": json.loads(other)["shapes"][:1]})
    upload = read_pictures(files_of(given | {f"two/b.{ending}": other}))
    assert len(upload.boxes) == 4
    two = f"one/b.{ending} and two/b.{ending}"
    said = f"1 picture has objects in several files, such as b.png in {two}: the objects of all files"
    assert any(note.startswith(said) for note in upload.notes)
    assert not any("several files" in note for note in read_pictures(files_of(given)).notes)


def test_tasks_of_two_projects_with_the_same_numbers_are_not_taken_for_two_annotators():
    whole = json.loads(label_studio())
    for task in whole:
        task["id"] = 1
    assert sorted(
        read_pictures(files_of({**pictures(), "p.json": json.dumps(whole)})).boxes.round(3).tolist()
    ) == sorted(ALL)


SIZED = {"VOC", "COCO", "COCO, masks", "labelme", "CVAT", "CVAT, video", "table"}  # tools that state sizes in pixels


def stating(tool, h, w):
    """The files of a tool whose annotations state that the pictures have h x w pixels; they have H x W."""
    if tool == "VOC":
        size = f"<size><width>{w}</width><height>{h}</height></size>"
        return {f"{n}.xml": voc(n).replace("<size><width>60</width></size>", size) for n in "abc"}
    if tool.startswith("COCO"):
        whole = json.loads(coco())
        for image in whole["images"]:
            image |= {"height": h, "width": str(w)}
        for annotation in whole["annotations"] if tool == "COCO, masks" else ():
            x, y, across, down = annotation.pop("bbox")
            mask = np.zeros((h, w), bool)
            mask[y : y + down, x : x + across] = True
            annotation["segmentation"] = run_lengths(mask, True)
        for image in whole["images"] if tool == "COCO, masks" else ():
            image |= {"height": 7, "width": 9}  # the mask says what its pixels are
        return {"i.json": json.dumps(whole)}
    if tool == "labelme":
        return {f"{n}.json": json.dumps(json.loads(labelme(n)) | {"imageHeight": h, "imageWidth": w}) for n in "abc"}
    if tool == "CVAT":
        return {"annotations.xml": cvat().replace('width="60" height="40"', f'width="{w}" height="{h}"')}
    if tool == "CVAT, video":
        meta = f"<meta><task><original_size><width>{w}</width><height>{h}</height></original_size></task></meta>"
        given = video(DRIVEN)
        return given | {"annotations.xml": given["annotations.xml"].replace("<meta/>", meta)}
    if tool == "Label Studio":
        return {"p.json": label_studio().replace(f'"original_width": {W}, "original_height": {H}',
                                                 f'"original_width": {w}, "original_height": {h}')}  # fmt: skip
    return {"t.csv": table(ROBOFLOW, f"{{}}.png,{w},{h},car,{{}},{{}},{{}},{{}}")}


def stated(tool, h, w):
    return files_of((pictures() if tool != "CVAT, video" else {}) | stating(tool, h, w))


@pytest.mark.parametrize("tool", sorted(SIZED))
@pytest.mark.parametrize(("h", "w"), [(2 * H, 2 * W), (3 * H // 2, 3 * W // 2), (3 * H, 3 * W + 2)])
def test_objects_are_scaled_with_a_picture_of_another_scale(tool, h, w):
    upload = read_pictures(stated(tool, h, w))
    expected = [[x * W / w, y * H / h, x2 * W / w, y2 * H / h] for x, y, x2, y2 in ALL]
    np.testing.assert_allclose(sorted(upload.boxes.tolist()), sorted(expected), atol=1e-3)
    (note,) = (note for note in upload.notes if "another size" in note)
    assert note.startswith("2 pictures have another size than the annotations state, such as ")
    assert f"with {W} x {H} instead of {w} x {h} pixels" in note


@pytest.mark.parametrize("tool", [*sorted(SIZED), "Label Studio"])
@pytest.mark.parametrize(("h", "w"), [(W, H), (H + 9, W), (2 * H, 3 * W)], ids=["turned", "higher", "stretched"])
def test_a_picture_of_other_proportions_than_the_annotations_state_is_refused_with_both_sizes(tool, h, w):
    with pytest.raises(DataError, match=rf"the annotations state {w} x {h} pixels, but .* has {W} x {H}"):
        read_pictures(stated(tool, h, w))


@pytest.mark.parametrize("tool", sorted(SIZED - {"COCO, masks"}))
@pytest.mark.parametrize(("h", "w"), [(H, W), (0, 0)])
def test_a_size_that_is_right_or_not_stated_changes_nothing(tool, h, w):
    upload = read_pictures(stated(tool, h, w))
    assert sorted(upload.boxes.tolist()) == sorted(ALL)
    assert not any("another size" in note for note in upload.notes)


def test_width_and_height_that_may_be_those_of_the_object_are_not_taken_for_the_size_of_the_picture():
    given = {**pictures(), "t.csv": table("image,xmin,ymin,xmax,ymax,width,height", "{}.png,{},{},{},{},{w},{h}")}
    assert sorted(read_pictures(files_of(given)).boxes.tolist()) == sorted(ALL)


def test_points_alone_are_refused_and_counted():
    shapes = [{"label": "car", "shape_type": "point", "points": [[3, 4]]}]
    files = {f"{n}.json": json.dumps({"imagePath": f"{n}.png", "shapes": shapes}) for n in "ab"}
    with pytest.raises(DataError, match=r"json has no objects\. 2 annotations .* ignored: point \(2\)"):
        read_pictures(files_of({**pictures(), **files}))


@pytest.mark.parametrize("suffix", ["jpg", "JPEG", "heic"])
def test_the_name_of_an_image_may_have_another_ending(suffix):
    given = {**pictures(), **{f"{n}.xml": voc(n).replace(".png<", f".{suffix}<") for n in "abc"}}
    assert sorted(read_pictures(files_of(given)).boxes.tolist()) == sorted(ALL)
    given |= {"a.bmp": pictures()["b.png"]}
    with pytest.raises(DataError, match=rf"'a\.{suffix}' is ambiguous: it may be a\.bmp or a\.png.*the path of one"):
        read_pictures(files_of(given))
    given = {**pictures(), "b.csv": "image,xmin,ymin,xmax,ymax\na.png,1,2,9,9\nb.0001,1,2,9,9"}
    with pytest.raises(DataError, match=r"no image 'b\.0001'"):  # whose end is no image's
        read_pictures(files_of(given))


@pytest.mark.parametrize("times", range(4))
def test_names_may_be_encoded_more_than_once(times):
    url = "/data/upload/1/1a2b3c4d-my street {}.png"
    for _ in range(times):
        url = quote(url, safe="/{}")
    given = {**pictures("my street "), "p.json": label_studio(url)}
    assert sorted(read_pictures(files_of(given)).boxes.round(3).tolist()) == sorted(ALL)


def test_a_name_that_holds_per_cent_signs_means_itself_before_what_it_encodes():
    images = pictures()
    given = {"50%20.png": images["a.png"], "50 .png": images["b.png"], "c.png": images["c.png"]}
    table = "image,xmin,ymin,xmax,ymax\nx/50%20.png,1,2,9,9\nx/50 .png,1,2,9,9"
    upload = read_pictures(files_of({**given, "b.csv": table}))
    assert [upload.names[k] for k in upload.picture] == ["50%20.png", "50 .png"]


def test_one_kind_of_several_is_chosen():
    two = coco().replace(b'"category_id": 2', b'"category_id": 3', 1)
    two = json.loads(two) | {"categories": [{"id": 2, "name": "car"}, {"id": 3, "name": "person"}]}
    given = files_of({**pictures(), "instances.json": json.dumps(two)})
    upload = read_pictures(given)
    assert upload.kinds == ("car", "person")
    assert "Objects of 2 kinds are treated as one kind: car (2), person (1)" in upload.notes
    with pytest.raises(DataError, match="objects in fewer than two pictures"):
        read_pictures(given, kinds=("person",))
    assert len(read_pictures(given, kinds=("car", "person")).boxes) == 3


def test_of_namesakes_the_nearest_is_meant():
    given = {**pictures("train/images/"), **pictures("valid/images/"), **yolo("train/labels/"), **yolo("valid/labels/")}
    upload = read_pictures(files_of(given))
    assert upload.picture.tolist() == [0, 1, 1, 3, 4, 4]


def broken(of, old, new):
    """The files of a tool with what is `old` in its annotations made `new` once a file."""
    return {
        name: content if name.endswith(".png") else content.replace(old, new, 1) for name, content in files_of(SAME[of])
    }


REFUSED = {
    "COCO, an unknown image": (
        broken("COCO", b'"image_id": 5', b'"image_id": 99'),
        r"instances\.json, annotations\[0\], image_id: invalid value 99.*one of the images",
    ),
    "COCO, three numbers": (
        broken("COCO", b"[6, 4, 24, 16]", b"[6, 4, 24]"),
        r"annotations\[0\], bbox: invalid value \[6, 4, 24\].*4 numbers",
    ),
    "COCO, flat": (broken("COCO", b"[6, 4, 24, 16]", b"[6, 4, 24, 0]"), r"annotations\[0\], bbox: .*last two above 0"),
    "COCO, words": (
        broken("COCO", b"[6, 4, 24, 16]", b'[6, 4, "x", 16]'),
        r"annotations\[0\], bbox: invalid value 'x'",
    ),
    "COCO, endless": (
        broken("COCO", b"[6, 4, 24, 16]", b"[6, 4, 1e999, 16]"),
        r"annotations\[0\], bbox: invalid value inf",
    ),
    "COCO, far": (
        broken("COCO", b"[6, 4, 24, 16]", b"[600, 4, 24, 16]"),
        r"annotations\[0\], bbox: .*x = 612, is outside",
    ),
    "COCO, a file that is missing": (
        broken("COCO", b'"a.png"', b'"aa.png"'),
        r"annotations\[0\]: there is no image 'aa.png'.*a\.png",
    ),
    "COCO, no name": (broken("COCO", b'"a.png"', b"null"), r"images\[0\], file_name: no value"),
    "COCO, cut off": ({**pictures(), "i.json": coco()[:-9]}, r"i\.json is not valid JSON"),
    "deep JSON": ({**pictures(), "i.json": b"[" * 100_000}, r"i\.json is not valid JSON"),
    "another JSON": ({**pictures(), "i.json": b'{"a": 1}'}, r"i\.json is not in a known annotation format.*COCO"),
    "YOLO, in pixels": (
        {**pictures(), **yolo(), "a.txt": "0 18 12 24 16"},
        r"a\.txt, line 1: the values are not fractions of the picture: '0 18 12 24 16'.*between 0 and 1",
    ),
    "YOLO, four values": (
        {**pictures(), **yolo(), "a.txt": yolo_line((6, 4, 30, 20)) + "0 .5 .5 .2"},
        r"a\.txt, line 2: 4 values instead of at least 5",
    ),
    "YOLO, a word": (broken("YOLO side by side", b"0 0.3", b"0 x"), "no objects|the header is|not 0|annotation format"),
    "VOC, backwards": (
        broken("VOC of LabelImg", b"<xmin>6<", b"<xmin>60<"),
        r"a\.xml, object 1, xmax: 30.* is not greater than xmin = 60",
    ),
    "VOC, a hole": (broken("VOC of LabelImg", b"<ymin>4</ymin>", b""), r"a\.xml, object 1, ymin: no value"),
    "VOC, no box": (broken("VOC of LabelImg", b"bndbox>", b"box>"), r"is not valid XML|there is no <bndbox>"),
    "XML that grows": (
        {**pictures(), "a.xml": '<!DOCTYPE x [<!ENTITY a "aaaa">]><annotation>&a;</annotation>'},
        r"a\.xml has a document type",
    ),
    "another XML": ({**pictures(), "a.xml": "<kml></kml>"}, r"a\.xml begins with <kml>"),
    "CVAT, a word": (broken("CVAT for images", b'xtl="6.00"', b'xtl="x"'), r"image 1, shape 1, xtl: invalid value 'x'"),
    "Label Studio, a word": (
        broken("Label Studio", b'"rotation": 0', b'"rotation": "up"'),
        r"\[0\]\.annotations\[0\]\.result\[0\]: invalid value 'up'.*an angle",
    ),
    "Label Studio, no image": (
        broken("Label Studio", b'"image": "/data', b'"img": "/data'),
        r"\[0\], image: no value",
    ),
    "Label Studio, csv, broken": (
        {**pictures(), "p.csv": label_studio_csv().replace("[{", "[{{", 1)},
        r"p\.csv, line 2: a cell is not valid JSON",
    ),
    "VIA, a line": (
        broken("VIA", b'"name": "rect"', b'"name": "knot"'),
        r"regions\[0\]: invalid value 'knot'.*rect, circle",
    ),
    "labelme, one point": (
        broken("labelme", b"[[30, 20], [6, 4]]", b"[[30, 20]]"),
        r"a\.json, shapes\[0\], points: .*two points",
    ),
    "shares beyond": (
        broken("OpenImages' table", b"a,x,car,1,0.1,", b"a,x,car,1,1.4,"),
        r"o\.csv, line 2, column xmax: 0.5 is not greater than xmin = 1.4",
    ),
}  # fmt: skip


@all_cases("kind", REFUSED)
def test_what_is_wrong_is_named_by_file_and_place(kind):
    contents, words = REFUSED[kind]
    with pytest.raises(DataError, match=words) as refusal:
        read_pictures(files_of(contents))
    assert refusal.value.accepted
    assert len(str(refusal.value)) < 900


def test_examples_in_classes_are_not_taken_for_pictures_with_objects():
    assert not are_pictures([("pets.zip", archive(tree(GREY, PAIR)))])
    assert not are_pictures(
        [("pets.zip", archive(tree(GREY, PAIR) | {"labels.csv": b"file,class\na,b\n", "info.json": b"{}"}))]
    )
    assert are_pictures(files_of({**pictures(), "t.csv": "file,what\na,b\n"}))
    assert not are_pictures([("t.csv", b"a,b\n1,2\n")])
    assert not are_pictures([("a.zip", b"PK nothing")])


def test_objects_left_out_though_named_like_those_that_are_read_are_told():
    lines = "image,xmin,ymin,xmax,ymax,class\n" + "".join(
        f"{name}.png,{4 * k},2,{4 * k + 3},9,{kind}\n" for name in "ab" for k, kind in enumerate(("Car", "car", "bus"))
    )
    given = files_of({**pictures(), "boxes.csv": lines})
    said = (
        "Objects named 'car' are not read, but objects named 'Car' are. If both names mean the same kind, choose both"
    )
    assert said in read_pictures(given, kinds=("Car", "bus")).notes
    for kinds in ((), ("Car", "car"), ("bus",)):
        assert not any("choose both" in note for note in read_pictures(given, kinds=kinds).notes)
