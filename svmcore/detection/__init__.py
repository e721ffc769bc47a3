"""Finding objects in pictures: from windows to a free-response curve, one stage a file."""
