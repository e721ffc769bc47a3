"""A run on one sheet: a single HTML file with its figures, to be kept, printed, or sent to somebody without the app.

marks     HTML from numbers, texts and pictures, each a PNG inside the file: everything that came from outside is
          escaped here, and nowhere else
charts    line charts and histograms as SVG
sections  what stands on the sheet, part by part; detection: the same of a run that looks for objects
"""
