"""The version, in this one place. No key of a spec, no link and no result has it."""

VERSION = "0.2.0"
