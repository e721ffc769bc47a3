"""Why a trained machine decides as it does on one example, one question a file."""
