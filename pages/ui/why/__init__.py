"""Why a machine decides as it does on one example, one panel a file."""
