"""Background runs: a store, a queue that is fair across visitors, and worker processes.

The unit of work is one seed of one spec. Pages talk to `dprl.jobs.store.Store` only, and start the workers
with `dprl.jobs.local.ensure_pool`; nothing here imports Streamlit.
"""
