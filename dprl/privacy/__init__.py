"""Privacy: mechanisms, bounds on their errors, the privatizers built from them, and a public accountant."""

from dprl.privacy.accountant import Account, account
from dprl.privacy.guarantee import Guarantee
from dprl.privacy.mechanisms import MECHANISMS, Mechanism
from dprl.privacy.privatizers import PRIVATIZERS, Privatizer

__all__ = ["MECHANISMS", "PRIVATIZERS", "Account", "Guarantee", "Mechanism", "Privatizer", "account"]
