"""Models that answer: remote endpoints and the embedded server, by one code path."""
