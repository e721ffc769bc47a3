"""What tells an object from others of its kind, for Streamlit's caches (`hash_funcs`)."""

from data import Dataset
from data.pictures import PictureSet
from svmcore.lab.store.runs import Run

KNOWN_BY = {
    Dataset: lambda data: data.content_hash,
    PictureSet: lambda pictures: pictures.content_hash,
    Run: lambda run: run.id,
}
