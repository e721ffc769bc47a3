"""The same three pictures and their objects as annotation tools export them, by the tools' documented formats."""

import json
from urllib.parse import quote

from tests.uploads import STREETS, image

H, W = STREETS[0].shape  # 40, 60
CARS = {"a": [(6, 4, 30, 20)], "b": [(3, 10, 15, 30), (30, 8, 54, 24)]}  # xmin, ymin, xmax, ymax
ALL = [list(map(float, box)) for boxes in CARS.values() for box in boxes]


def pictures(folder="", suffix="png"):
    return {f"{folder}{name}.{suffix}": image(pixels) for name, pixels in zip("abc", STREETS)}


def each():
    return [(name, box) for name, boxes in CARS.items() for box in boxes]


def coco(file="{}.png", **more):
    ids = {name: k for k, name in enumerate("abc", 5)}
    found = [
        {
            "id": k,
            "image_id": ids[name],
            "category_id": 2,
            "bbox": [x, y, x2 - x, y2 - y],
            "iscrowd": 0,
            "segmentation": [],
        }
        for k, (name, (x, y, x2, y2)) in enumerate(each())
    ]
    images = [{"id": k, "file_name": file.format(name), "width": W, "height": H} for name, k in ids.items()]
    return json.dumps(
        {"images": images, "annotations": found, "categories": [{"id": 2, "name": "car"}]} | more
    ).encode()


def yolo_line(box):
    x, y, x2, y2 = box
    return f"0 {(x + x2) / 2 / W:.8f} {(y + y2) / 2 / H:.8f} {(x2 - x) / W:.8f} {(y2 - y) / H:.8f}\n"


def yolo(folder=""):
    return {f"{folder}{name}.txt": "".join(map(yolo_line, CARS.get(name, ()))) for name in "abc"}


def voc(name, side="<{0}>{1}</{0}>", boxes=None):
    found = "".join(
        "<object><name>car</name><pose>Unspecified</pose><truncated>0</truncated><difficult>0</difficult><bndbox>"
        + "".join(side.format(s, v) for s, v in zip(("xmin", "ymin", "xmax", "ymax"), box))
        + "</bndbox></object>"
        for box in (CARS.get(name, ()) if boxes is None else boxes)
    )
    head = f"<folder>x</folder><filename>{name}.png</filename><size><width>60</width></size>"
    return f"<annotation>{head}{found}</annotation>"


def cvat():
    found = "".join(
        f'<image id="{k}" name="{name}.png" width="60" height="40">'
        + "".join(f'<box label="car" occluded="0" xtl="{a}.00" ytl="{b}.00" xbr="{c}.00" ybr="{d}.00"></box>'
                  for a, b, c, d in CARS.get(name, ())) + "</image>"
        for k, name in enumerate("abc")
    )  # fmt: skip
    return f'<?xml version="1.0" encoding="utf-8"?><annotations><version>1.1</version><meta/>{found}</annotations>'


def per_cent(box, **more):
    x, y, x2, y2 = box
    return {"x": 100 * x / W, "y": 100 * y / H, "width": 100 * (x2 - x) / W, "height": 100 * (y2 - y) / H,
            "rotation": 0, "rectanglelabels": ["car"]} | more  # fmt: skip


def label_studio(url="/data/upload/1/1a2b3c4d-{}.png"):
    return json.dumps([
        {"id": k, "data": {"image": url.format(name)}, "annotations": [{"was_cancelled": False, "result": [
            {"type": "rectanglelabels", "original_width": W, "original_height": H, "value": per_cent(box)}
            for box in CARS.get(name, ())]}]} for k, name in enumerate("abc")
    ])  # fmt: skip


def label_studio_min():
    return json.dumps([{"image": f"/data/upload/1/1a2b3c4d-{name}.png", "id": k, "annotator": 1,
                        "label": [per_cent(box, original_width=W) for box in CARS.get(name, ())]}
                       for k, name in enumerate("abc")])  # fmt: skip


def label_studio_csv(mark=","):
    def cell(name):
        return '"' + json.dumps([per_cent(box) for box in CARS.get(name, ())]).replace('"', '""') + '"'

    rows = [[f"/data/upload/1/1a2b3c4d-{name}.png", str(k), cell(name) if name in CARS else "", "1", "9", "2.5"]
            for k, name in enumerate("abc")]  # fmt: skip
    return "\n".join(
        [mark.join(("image", "id", "label", "annotator", "annotation_id", "lead_time")), *map(mark.join, rows)]
    )


def via_regions(name):
    return [{"shape_attributes": {"name": "rect", "x": x, "y": y, "width": x2 - x, "height": y2 - y},
             "region_attributes": {"type": "car"}} for x, y, x2, y2 in CARS.get(name, ())]  # fmt: skip


def via(**around):
    files = {
        f"{n}.png99": {"filename": f"{n}.png", "size": 99, "regions": via_regions(n), "file_attributes": {}}
        for n in "abc"
    }
    return json.dumps({**around, "_via_img_metadata": files} if around else files)


def via_csv():
    def cell(value):
        return '"' + json.dumps(value).replace('"', '""') + '"'

    rows = [
        f"{n}.png,99,{cell({})},9,{k},{cell(r['shape_attributes'])},{cell(r['region_attributes'])}"
        for n in "ab"
        for k, r in enumerate(via_regions(n))
    ]
    head = "filename,file_size,file_attributes,region_count,region_id,region_shape_attributes,region_attributes"
    return "\n".join([head, *rows, f"c.png,99,{cell({})},0,0,{cell({})},{cell({})}"])


def labelme(name):
    shapes = [
        {"label": "car", "shape_type": "rectangle", "points": [[x2, y2], [x, y]]} for x, y, x2, y2 in CARS.get(name, ())
    ]
    return json.dumps({"version": "5.4", "imagePath": f"..\\img\\{name}.png", "imageData": "iVBOR", "shapes": shapes})


def table(head, row, mark=","):
    return "\n".join([head, *(row.format(name, *box, w=box[2] - box[0], h=box[3] - box[1], cx=(box[0] + box[2]) / 2,
                                         cy=(box[1] + box[3]) / 2, W=W, H=H) for name, box in each())])  # fmt: skip


def open_images():
    rows = [f"{n},x,car,1,{x / W},{x2 / W},{y / H},{y2 / H}" for n, (x, y, x2, y2) in each()]
    return "\n".join(["ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax", *rows])


ROBOFLOW = "filename,width,height,class,xmin,ymin,xmax,ymax"
SAME = {  # tool -> its files; the objects in all of them are the same
    "COCO": {**pictures(), "instances.json": coco()},
    "COCO of CVAT": {**pictures("images/default/"), "annotations/instances_default.json": coco()},
    "COCO of Label Studio": {**pictures("images/1a2b3c4d-"), "result.json": coco("images/1a2b3c4d-{}.png")},
    "COCO of Roboflow": {**pictures("train/"), "train/_annotations.coco.json": coco(), "README.roboflow.txt": "Hi"},
    "YOLO side by side": {**pictures(), **yolo(), "classes.txt": "car\ntruck\n"},
    "YOLO of Ultralytics": {**pictures("images/train/"), **yolo("labels/train/"),
                            "data.yaml": "train: images/train\nnc: 1\nnames:\n  0: car\n"},
    "YOLO of Roboflow": {**pictures("train/images/"), **yolo("train/labels/"), "data.yaml": "nc: 1\nnames: ['car']\n"},
    "YOLO of CVAT": {**pictures("obj_train_data/"), **yolo("obj_train_data/"), "obj.names": "car\n", "obj.data": "x",
                     "train.txt": "data/obj_train_data/a.png\n"},
    "YOLO of Label Studio": {**pictures("images/1a2b3c4d-"), **yolo("labels/1a2b3c4d-"), "classes.txt": "car\n",
                             "notes.json": "{}"},
    "VOC of LabelImg": {**pictures(), **{f"{n}.xml": voc(n) for n in "abc"}},
    "VOC of CVAT": {**pictures("JPEGImages/"), **{f"Annotations/{n}.xml": voc(n, "<{0}>{1}.0</{0}>") for n in "abc"},
                    "ImageSets/Main/default.txt": "a\nb\nc\n", "labelmap.txt": "# label:color\ncar:1,2,3::\n"},
    "CVAT for images": {**pictures("images/"), "annotations.xml": cvat()},
    "Label Studio": {**pictures(), "project-1-at-2024.json": label_studio()},
    "Label Studio, spaces in names": {**pictures("my street "),
                                      "p.json": label_studio(quote("/d/1a2b3c4d-my street ") + "{}.png")},
    "Label Studio, minimal": {**pictures(), "min.json": label_studio_min()},
    "Label Studio, csv": {**pictures(), "p.csv": label_studio_csv()},
    "Label Studio, tsv": {**pictures(), "p.tsv": label_studio_csv("\t")},
    "VIA": {**pictures(), "via_region_data.json": via()},
    "VIA's project": {**pictures(), "via_project.json": via(_via_settings={}, _via_attributes={})},
    "VIA, csv": {**pictures(), "via.csv": via_csv()},
    "labelme": {**pictures(), **{f"{n}.json": labelme(n) for n in "abc"}},
    "TensorFlow's table": {**pictures(), "train.csv": table(ROBOFLOW, "{}.png,{W},{H},car,{},{},{},{}")},
    "OpenImages' table": {**pictures(), "o.csv": open_images()},
    "corner and size": {**pictures(), "b.csv": table("image,x,y,width,height,label", "{}.png,{},{},{w},{h},car")},
    "centre and size": {**pictures(), "b.csv": table("img,cx,cy,w,h,class", "{0}.png,{cx},{cy},{w},{h},car")},
    "Excel in Germany": {**pictures(), "b.csv": table("Image;XMin;YMin;XMax;YMax;Category",
                                                      "{}.png;{},0;{},0;{},0;{},0;car").encode("utf-16")},
}  # fmt: skip


def files_of(contents):
    return [(name, content.encode() if isinstance(content, str) else content) for name, content in contents.items()]
