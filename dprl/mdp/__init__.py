"""Tabular Markov decision processes, exact planning in them, and arrays of visit counts."""

from dprl.mdp.tabular import Size, TabularMDP
