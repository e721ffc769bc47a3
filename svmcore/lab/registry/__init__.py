"""What the lab can do: methods, tasks and solvers, each an object in a file of its own, known by its name.

Nothing else in the lab, the command line or the pages asks which method a recipe has: they ask the method.
"""
