"""Strategies propose text; they never dedup, count or stop."""
