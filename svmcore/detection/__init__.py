"""Finding objects in pictures, one stage a file: candidates, chips, scores, matching to the truth, FROC."""
