"""What Detect and its tab On a photograph show: detections at an operating point, on the picture and one by one."""
