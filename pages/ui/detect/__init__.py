"""Objects looked for in pictures: a run's detections at an operating point, on the picture and one by one."""
