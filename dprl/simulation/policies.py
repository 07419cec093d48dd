"""Write a deterministic policy as a short text, so that a spec or a link can contain it.

    011X12.001X8

This means, for 12 steps, action 0 in state 0 and action 1 in states 1 and 2; then, for 8 steps, action 0 in states 0
and 1 and action 1 in state 2. An action is a digit in base 36 or, from 36 on, `_` and two such digits.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.fields import SpecError, reject, shown
from dprl.mdp import Size
from dprl.simulation.base import SAID

Policy = NDArray[np.integer[Any]]

EXAMPLE = "011X12.001X8 (each digit is the action in one state; 011 is for 12 steps, and 001 for the next 8)"
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
TIMES, NEXT, LONG = "X", ".", "_"
_ACTION = re.compile(rf"{LONG}[0-9a-z]{{2}}|[0-9a-z]")
_ROW = re.compile(rf"((?:{_ACTION.pattern})+)(?:{TIMES}([1-9][0-9]{{0,5}}))?")


def policy_text(policy: Policy) -> str:
    """Write a policy [H, S] as text. Equal policies have equal texts."""
    rows = ["".join(map(_digits, row)) for row in np.asarray(policy).tolist()]
    runs = ((row, len(list(same))) for row, same in groupby(rows))
    return NEXT.join(row if times == 1 else f"{row}{TIMES}{times}" for row, times in runs)


def _digits(action: int) -> str:
    high, low = divmod(action, len(DIGITS))
    return f"{LONG}{DIGITS[high]}{DIGITS[low]}" if high else DIGITS[low]


def policy_from_text(text: str, size: Size) -> Policy:
    """Read the policy [H, S] of a problem from its text. Raises SpecError."""
    rows: list[list[int]] = []
    for part in text.split(NEXT):
        found = _ROW.fullmatch(part)
        if found is None:
            example = f"{'0' * min(size.S, 20)}{TIMES}{size.H}"
            raise reject("behaviour", SAID["row"], row=shown(part) or "nothing", example=example)
        times = int(found[2] or 1)
        if len(rows) + times > size.H:
            raise SpecError("behaviour", f"the policy has more steps than the horizon; give {size.H}.")
        rows += [[int(action.strip(LONG), 36) for action in _ACTION.findall(found[1])]] * times
    if len(rows) != size.H:
        raise reject("behaviour", SAID["policy_steps"], steps=len(rows), H=size.H)
    for h, row in enumerate(rows):
        if len(row) != size.S:
            raise reject("behaviour", SAID["policy_states"], h=h, actions=len(row), states=size.S)
        for s, action in enumerate(row):
            if action >= size.A:
                raise reject("behaviour", SAID["policy_action"], h=h, s=s, action=action, last=size.A - 1)
    return np.array(rows, dtype=np.int64)
