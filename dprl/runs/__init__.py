"""The background cache: whoever asks for a seed gets it from the store, or waits until a worker has played it.

The unit of work is one seed of one spec. Pages and scripts talk to `dprl.runs.store.Store` alone.
"""
