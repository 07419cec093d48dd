"""Links that mean harm."""

from __future__ import annotations

import random
from urllib.parse import quote

POISON = [
    "", "~", "~~~~", ".", "..", "-1", "1e400", "-inf", "nan", "0x10", "1_000", "٣", "½", "1" * 400, "{}", "[]",
    "null", "None", "true", "__import__('os').system('id')", "{{7*7}}", "${jndi:ldap://x}", "%{x}", "%00", "%",
    "%zz", "\x00", "\ud800", "\u202e", "🦊" * 50, "<script>alert(1)</script>", "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))", "' OR 1=1 --", "; rm -rf /", "../../etc/passwd", "S.6.7.8", "envp", "envp.",
    "envp..", "envp.S", "envp.S.", "envp.__class__.x", "algp.cap.zzz", "name.", "name.~name.~", "col.-1", "hide.maybe",
]  # fmt: skip

# Of parameters that no link has, and of fields of a spec.
STRANGE = ["__proto__", "embed", "c[]", "C", "c", "", "store", "id"]
NAMES = ["eps", "K", "envp", "env", "name", "alg", "priv"]


def hostile(seed: int, *good: list[tuple[str, str]]) -> str:
    """A hostile query string: one of these links, as its parameters, cut, spliced, repeated and poisoned at random."""
    rng = random.Random(seed)
    items = list(rng.choice(good))
    keys = [key for key, _ in items] + STRANGE
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(items))
        key, value = items[at]
        kind = rng.randrange(6)
        if kind == 0:
            items[at] = (key, rng.choice(POISON))
        elif kind == 1:
            items[at] = (key, value[: rng.randint(0, len(value))] + rng.choice(POISON))
        elif kind == 2:
            items.append((rng.choice(keys), rng.choice(POISON)))
        elif kind == 3:
            parts = value.split("~")
            parts[rng.randrange(len(parts))] = f"{rng.choice(NAMES)}.{rng.choice(POISON)}"
            items[at] = (key, "~".join(parts))
        elif kind == 4:
            items += [items[at]] * rng.randint(1, 30)
        else:
            rng.shuffle(items)
    query = "&".join(f"{quote(k, errors='replace')}={quote(v, errors='replace')}" for k, v in items)
    return query if rng.random() < 0.8 else query[: rng.randint(0, len(query))]
