"""The number of users needed: measurements, a fitted power law with its error, and answers for other numbers."""

from __future__ import annotations

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
