"""The app as a person uses it, in Debian's Chromium driven by Playwright."""
