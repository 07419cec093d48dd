"""Sentences in Markdown that describe charts; the numbers come from the records of `figures` and from `metrics`."""
