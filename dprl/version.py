"""The version of dprl, defined only here. Results, their keys and links do not contain it."""

VERSION = "1.0.0"
