"""The users needed: measurements, a law fitted to them, its error, and the answer for your own numbers."""

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
