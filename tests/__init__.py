"""Tests: test_<module>.py beside naive.py (slow, obvious oracles), browser/ (the app in Chromium), bench/ (peers)."""
