"""Loops: one file each, from a spec to a run that is played a slice at a time."""
