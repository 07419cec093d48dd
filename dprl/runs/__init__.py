"""Runs computed in background processes, one seed at a time. Pages and scripts use only `dprl.runs.store.Store`."""
