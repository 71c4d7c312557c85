"""Tables to matplotlib figures, pages and words; pure."""
