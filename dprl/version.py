"""The version, defined only here. It is not part of any result, result's key or link."""

VERSION = "1.0.0"
