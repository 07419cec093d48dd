"""The registry of privatizers, which implement the privacy models; each has its own file."""

from dprl.plugins import Registry
from dprl.privacy.privatizers import central, local, none, shuffle
from dprl.privacy.privatizers.privatizer import Batch, Noise, Privatizer, Request

PRIVATIZERS: Registry[Privatizer] = Registry(
    (p.key, p) for p in (none.PRIVATIZER, central.PRIVATIZER, shuffle.PRIVATIZER, local.PRIVATIZER)
)
