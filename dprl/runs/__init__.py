"""The background cache: a seed comes from the store, or is computed by a worker first.

The unit of work is one seed of one spec. Pages and scripts use only `dprl.runs.store.Store`.
"""
