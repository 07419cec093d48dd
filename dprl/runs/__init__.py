"""Compute runs in the background: each seed's result comes from the store, or a worker process computes it first.

The unit of work is one seed of one spec. Pages and scripts use only `dprl.runs.store.Store`.
"""
