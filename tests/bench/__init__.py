"""Benchmarks against other libraries; not part of the test suite."""
