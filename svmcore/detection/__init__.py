"""Finding objects in pictures: candidate windows, chips, scored detections, matching to the truth, FROC. One stage a file."""
