"""Reading what models write; pure functions of text."""
