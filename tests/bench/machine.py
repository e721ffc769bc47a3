"""The machine that figures were measured on, in a line."""

from svmcore.lab.store.made_with import made_with


def machine() -> str:
    """Cores, processor and Python."""
    of = made_with()
    return f"{of['Cores']} cores, {of['Processor']}, Python {of['Python']}"
