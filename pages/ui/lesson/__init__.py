"""Lessons: walks through the pages, with a question at each step."""
