"""Privacy: noise mechanisms, bounds on their noise, privacy models (central, shuffle, local), and an accountant."""

from dprl.privacy.accountant import Account, account
from dprl.privacy.guarantee import Guarantee
from dprl.privacy.mechanisms import MECHANISMS, Mechanism
from dprl.privacy.privatizers import PRIVATIZERS, Privatizer

__all__ = ["MECHANISMS", "PRIVATIZERS", "Account", "Guarantee", "Mechanism", "Privatizer", "account"]
