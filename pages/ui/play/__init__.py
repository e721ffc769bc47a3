"""Points in the plane: the setting of an address, and its machine."""
