"""A blind sample for people to label: which points, on what sheet, and the labels that come back."""
