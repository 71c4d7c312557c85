"""Estimators and intervals; the only place that imports statsmodels."""
