"""The lessons, in their order; one a file."""

from pages.ui.lesson.lessons import jittering, speed, toofar, virtual

LESSONS = (virtual.LESSON, jittering.LESSON, toofar.LESSON, speed.LESSON)
