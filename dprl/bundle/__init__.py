"""Replication bundles: `files.py` makes them, `compare.py` verifies them, `command.py` is `dprl bundle`."""

from dprl.bundle.command import add, bundle_command
from dprl.bundle.compare import files_in, how_far, verified
from dprl.bundle.files import check_specs, curves_of, files_of, versions, write_bundle, zipped

__all__ = [
    "add",
    "bundle_command",
    "check_specs",
    "curves_of",
    "files_in",
    "files_of",
    "how_far",
    "verified",
    "versions",
    "write_bundle",
    "zipped",
]
