"""The version, defined only here. No key of a result, no link and no result contains it."""

VERSION = "1.0.0"
