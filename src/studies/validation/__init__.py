"""Every estimator against models of planted knowledge: bias, error, and how often its interval holds the truth."""
