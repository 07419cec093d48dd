"""Markdown sentences that describe charts. Their numbers come from the data in `figures` and from `metrics`."""
