"""Problems: tabular Markov decision processes, exact planning in them, and the record of counts."""

from dprl.mdp.tabular import Size, TabularMDP

__all__ = ["Size", "TabularMDP"]
