"""What the papers print, from published.json."""

import json
from pathlib import Path

PUBLISHED = json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8"))
