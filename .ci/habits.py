"""Find phrases that read oddly, of a few kinds, in the pages, documents and docstrings that git knows."""

import ast
import re
import subprocess
from pathlib import Path

HABITS = {
    "1, a clause as a noun": (
        r"(?:^|[.;|] )(?:What|Who|Where|How) (?!many |much |far |to )[^?.|]*(?:[.|]|$)",
        r"\b(?:of|from|by|to|in|for|with|than|at) what\b(?! was\b| happen)",
    ),
    "2, take for need, cost or use": (
        r"\b(?:takes?|took) (?:\S+ ){0,3}(?:users|episodes|noise|budget|space|memory|room|people|reports)\b",
        r"\b(?:takes?|took) (?:so|far|much|more|less|fewer|\{\w+\}) ",
    ),
    "3, the object or complement first": (
        r"(?:^|[.:;] )(?:Of|Into) (?:each|every|all|the|those|them|these|both|two)\b",
        r"(?:^|[.:;] )(?:Not )?(?:Added|Counted|Drawn|Measured|Moved|Proved|Released|Said|Shown) (?:is|are|was|were)\b",
    ),
    "4, software that says, tells, hears": (
        r"\b(?:bar|box|browser|button|card|chart|code|column|curve|dashboard|error|file|it|lesson|line|link|model|page"
        r"|phone|program|run|sentence|server|sheet|spec|table|test|worker)s? (?:also )?"
        r"(?:says?|said|tells?|told|hears?|heard|speaks?)\b(?![^.]* apart)",
        r"\b(?:is|are|was|were|be|been) said\b|\b(?:algorithm|learner|planner|it|program)s? (?:is|are|was|were) told\b",
    ),
    "5, where for if, what for a noun": (
        r"(?:None|\"\"|NaN|inf|infinite|[Ee]mpty|only|even|except|Error) where\b",
        r"\bwhere (?:none|no|not|nothing|nobody|possible|neither|that is|there (?:is|are))\b",
    ),
    "8, a foreign or antique idiom": (
        r"\b(?:in place of|anew(?![\"}:])|beside(?![:=`])|what else|rightly|whence|thereof|thereby|so many|come to that"
        r"|of one's own|as little as|let go of|the like|but for|for want of|save for|has come to|goes like)\b",
    ),
}  # fmt: skip
LIST = ["git", "ls-files", "README.md", "docs", "dprl", "pages", "website"]


def prose(path: Path):
    text, fenced = path.read_text(), False
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
                yield from enumerate(node.value.splitlines(), node.lineno)
        return
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        if not fenced and not line.startswith("#"):
            yield number, re.sub(r'^[\w."-]+ = "|"$', "", line)


found = []
for name in subprocess.check_output(LIST, text=True).split():
    for number, line in prose(Path(name)) if re.search(r"^.*\.(md|py|toml)$", name) else ():
        for habit, patterns in HABITS.items():
            for match in re.finditer(
                "|".join(patterns), re.sub(r"`[^`]*`|\]\([^)]*\)|https?://\S+", "", line)
            ):
                found.append(f"{name}:{number}: habit {habit}: {match[0].strip()}")
raise SystemExit("\n".join(found) or 0)
