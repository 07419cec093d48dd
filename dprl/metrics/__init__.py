"""Quantities that pages compute from traces: bands over seeds, the privacy cost, exponents, noise, and mistakes."""
