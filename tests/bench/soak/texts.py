"""Texts that a program may stumble over, drawn or listed."""

from __future__ import annotations

LISTED = [
    "", " ", "\t", "a\nb", "\0", "x" * 121, "x" * 5000, "-", "--", "-1", ".", "..", "../../etc/passwd", "/etc/passwd",
    "C:\\x", "CON", "nul", "a/b", "%2e%2e%2f", "~", "$HOME", "`id`", "$(id)", "; ls", "'", '"', '"""', "\\", "\\N{BEL}",
    "{0}", "{title}", "%s", "%(a)s", "<b>x</b>", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&lt;",
    "![p](http://evil.example/1.png)", "[a](javascript:alert(1))", "**x**", "# h", "`x`", "$x$", ":red[x]", "|a|b|",
    "\u202eabc", "\u200b", "\u2028", "\ufeff", "\u0000", "e\u0301", "\U0001f600", "𝔘𝔫𝔦", "имя", "名前", "اسم", "ß", "İ",
    "\ud800", "\x1b[31m", "\x7f", "\r", "nan", "inf", "-inf", "1e999", "1e-999", "NaN", "0", "-0", "0x10", "1_000",
    "١٢", "1,5", "1.5", "1e3", "9" * 400, "4294967296", "9007199254740993", "true", "None", "null", "[]", "{}", "a=b",
    "a,b,,",
    "own:", "own:nope", "own:../x", "own:pictures:x", "20250101-000000-000-abcdef", "=1+1", "@x", "rbf:gamma=",
]  # fmt: skip


def text(rng) -> str:
    """One of those listed, or a mixture of some."""
    if rng.random() < 0.6:
        return LISTED[rng.integers(len(LISTED))]
    parts = [LISTED[at][:40] for at in rng.integers(len(LISTED), size=rng.integers(2, 4))]
    return "".join(parts)


def characters(rng) -> str:
    """Characters from all of Unicode, surrogates left out."""
    codes = rng.choice([0x20, 0x300, 0x2000, 0x10000, 0x10FFFF]) * rng.random(rng.integers(1, 60))
    return "".join(chr(int(code)) for code in codes if not 0xD800 <= code < 0xE000)
