"""The lessons, in their order; one a file."""

from pages.ui.lesson.lessons import jittering, keeps, margin, speed, toofar, virtual

LESSONS = (keeps.LESSON, margin.LESSON, virtual.LESSON, jittering.LESSON, toofar.LESSON, speed.LESSON)
