"""Privacy: mechanisms, how large their errors are, and the privatizers built from them."""

from dprl.privacy.guarantee import Guarantee
from dprl.privacy.mechanisms import MECHANISMS, Mechanism
from dprl.privacy.privatizers import PRIVATIZERS, Privatizer

__all__ = ["MECHANISMS", "PRIVATIZERS", "Guarantee", "Mechanism", "Privatizer"]
