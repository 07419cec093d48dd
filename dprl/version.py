"""The only place of the version. No key of a spec, no link and no result contains it."""

VERSION = "1.0.0"
