"""A run on one sheet: a single HTML file with its figures, to be kept, printed, or sent to somebody without the app.

marks     HTML from numbers and texts: everything that came from outside is escaped here, and nowhere else
charts    line charts and histograms as SVG
tiles     pictures of examples as PNGs inside the file
sections  what stands on the sheet, part by part; detection: the same of a run that looks for objects
sheet     the parts put together
"""
