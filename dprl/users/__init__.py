"""The number of users that learning needs: measurements, a power law fitted to them, and answers for other settings."""

from dprl.users.answer import (
    BUDGETS,
    FIELDS,
    Asked,
    Need,
    answers,
    beyond,
    curve,
    episodes_needed,
    likely,
    likely_from,
    ways,
)
from dprl.users.law import MODELS, MOST
from dprl.users.table import Check, Problem, Table
