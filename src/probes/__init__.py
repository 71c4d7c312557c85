"""The probes, blind to one another."""
