"""What a reader sees from the named recipes to begin with: those that a form offers first, in this order."""

SHOWS = {
    "mnist-5k-sv": "Ten digits in seconds: which examples hold the machines up, and which come out wrong.",
    "mnist-5k-vsv": "The same, every support vector shifted by a pixel: fewer errors for more support vectors.",
    "mnist-5k-8-vs-rest": "One machine alone: 8 or not. The easiest to read.",
    "mnist-5k-rbf": "A Gaussian kernel in place of the polynomial.",
    "digits-8x8-sv": "Digits of 64 pixels.",
    "moons": "Points of a plane: the line bends while the machine trains.",
    "gaussians": "Classes that overlap: many alphas end at C.",
    "mnist-sv": "All 60,000 digits, the paper's base machine.",
    "mnist-vsv": "Its virtual support vectors, 3x3 shifts: about half of the errors (section 5.1).",
    "mnist-5000-degree9-jsv": "Shifts inside the kernel instead of among the examples (section 4).",
    "usps-vsv": "USPS, four shifts of one pixel, as in Table 1.",
    "3v8-tangent": "3 against 8, small transformations whitened away by their tangents.",
    "mnist-best": "Shifted, turned, thicker and thinner: the fewest errors found here.",
}
