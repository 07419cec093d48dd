from tests.runs.conftest import path, store

__all__ = ["path", "store"]
