from tests.jobs.conftest import path, store

__all__ = ["path", "store"]
