"""Sentences that compare a learned policy with today's treatment and state the limits of the comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dprl.messages import filled, messages
from dprl.sentences import uploads
from dprl.words import at_least, human, percent, plural, quoted

SAID = messages("uploads")["verdict"]

WRONG = 0.025  # largest probability that a verdict is wrong: one side of a 95% interval
GROUP_HEADS = "Group", "Held-out episodes", "Users' own average", "Policy", "Difference (interval)", "Verdict"


def beforehand(
    learned_from: int, checked: int, budget: str, episodes: int = 1, groups: int = 0, together: str = ""
) -> str:
    """Describe what a click will release under `budget`, if each user has up to `episodes` episodes and there are
    `groups` groups. `together` is the guarantee of all releases under the budget, or "" to omit it."""
    said = [filled(SAID["releases"], users=plural(learned_from, "user"), budget=budget)]
    if checked:
        sums = SAID["sums"] if episodes == 1 else SAID["sums_episodes"]
        by_group = [filled(SAID["sums_groups"], groups=groups)] * bool(groups)
        said += [filled(sums, users=plural(checked, "user"), budget=budget), SAID["apart"], *by_group]
    if together:
        said.append(filled(SAID["together_named"], together=together))
    return " ".join(said)


def headline(
    said: str, difference: tuple[float, float, float], learned: float, covered: float, releases: int = 1
) -> str:
    """Return the verdict on a learned policy as one or more sentences.

    `said` is "better", "too close" or "worse". `difference` has the lower end, the estimate and the upper end, in the
    declared rewards. `covered` is the share of the policy's actions that the file covers. `releases` is the number of
    releases of which this may be the best.
    """
    low, value, high = map(_three, difference)
    ends = {"low": human(low), "high": human(high)}
    if said == "too close":
        parts = [filled(SAID["close"], **ends)]
        if covered <= 0.95:
            parts.append(filled(SAID["close_why"], covered=percent(covered)))
    else:
        got = {"learned": human(_three(learned)), "size": human(abs(value))}
        wrong = filled(SAID["wrong"], wrong=percent(WRONG))
        if releases > 1:
            wrong = filled(SAID["wrong_best"], releases=releases, wrong=percent(min(releases * WRONG, 1.0)))
        parts = [filled(SAID[said], **got, **ends), wrong, turned(difference[0], difference[2])]
    return " ".join(filter(None, parts))


def said(trace: Any, releases: int = 1) -> list[str]:
    """Return the paragraphs about a release's verdict, or none if no users were held out. See `headline`."""
    if not trace.verdict:
        return []
    low, value, high = map(float, trace.today["difference"])
    covered, follows = trace.shares.values()
    ends = [float(end) for end in trace.today["learned"]]
    head = headline(trace.verdict, (low, value, high), ends[1], covered, releases)
    doubted = disagree(float(trace.curve.values[0]), float(trace.intervals(0)["learned"][2]))
    shown = (doubted, SAID["rule"], overlap(covered, follows), cautious(*ends))
    return [head, " ".join(filter(None, shown)), *SAID["blind"]]


def proved(trace: Any) -> str:
    """State the bound proved for the cautious policy. If it is below the users' own average, explain why."""
    spec, bound = trace.spec, float(trace.curve.values[0])
    episodes, least = spec.public.episodes, spec.problem_size.H * spec.public.reward_range[0]
    of = uploads.people(spec.learned_from, episodes)
    text = uploads.about_bound(spec.rho, bound, of, least, spec.beta, uploads.needs(episodes))
    if trace.verdict and least < bound < (got := float(trace.today["behaviour"][1])):
        text += f" {uploads.below(got)}"
    return text


def turned(low: float, high: float) -> str:
    """State how large an error would reverse the verdict, or return "" if the interval contains zero."""
    margin = max(low, -high)
    return filled(SAID["turned"], most=human(float(f"{margin:.2g}"))) if margin > 0 else ""


def overlap(covered: float, follows: float) -> str:
    """Describe how much of the learned policy the file covers."""
    return filled(SAID["overlap"], covered=percent(covered), follows=percent(follows))


def disagree(bound: float, high: float) -> str:
    """Warn if a proved bound is above `high`, the upper end of the interval from held-out users, or return ""."""
    if bound <= high:
        return ""
    ends = {"bound": human(_three(bound)), "high": human(_three(high)), "wrong": percent(WRONG)}
    return f"{filled(SAID['disagree'], **ends)} {SAID['disagree_other']}"


def cautious(low: float, value: float, high: float) -> str:
    """Warn that an estimated value is cautious if its interval reaches much further up than down, or return ""."""
    if high - value <= 1.5 * (value - low):
        return ""
    more = human(_three(high - value))
    return f"If few users acted as the policy does, its estimated value is cautious, and may be up to {more} too low."


def rows_of(about: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return rows (name, estimate, interval) for the policies in a policy file, with the recommended one first."""
    held, other, bound = about["held out"], about["other policy"], about["bound"]
    least = "Cautious policy, proved bound", f"at least {at_least(bound['worth at least'])}", "–"
    if not held["verdict"]:
        return [least]

    def row(what: str, checked: Mapping[str, Any], name: str) -> tuple[str, str, str]:
        low, value, high = (human(_three(float(each))) for each in checked[name])
        return what, value, f"{low} to {high}"

    first, second = ("Cautious", "Plug-in") if other["algorithm"] != bound["of"] else ("Plug-in", "Cautious")
    always = bound["best rule of one action"]
    return [
        row(f"{first} policy (recommended)", held, "learned"),
        row(f"{second} policy", other, "learned"),
        (f"Always {quoted(always['action'])}".replace("**", ""), human(_three(always["about"])), "–"),
        row("Users' own average", held, "behaviour"),
        row("Recommended policy minus users' own average", held, "difference"),
        least,
    ]


def group_rows(held: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the rows of the table of groups, whose columns are GROUP_HEADS, from the recommended policy's results."""
    rows: list[tuple[str, ...]] = []
    for label, found in held.get("groups", {}).items():
        number = human(_three(found["episodes"][1]))
        low, value, high = (human(_three(each)) for each in found["difference"])
        means = (human(_three(found[name][1])) for name in ("behaviour", "learned"))
        rows.append((label, number, *means, f"{value} ({low} to {high})", found["verdict"]))
    return rows


def group_lines(held: Mapping[str, Any]) -> list[str]:
    """Return the table of groups as sentences, for a terminal."""
    names = "group", "episodes", "own", "policy", "difference", "verdict"
    return [filled(SAID["group"], **dict(zip(names, row, strict=True))) for row in group_rows(held)]


def about_groups(held: Mapping[str, Any]) -> str:
    """Describe the groups for which a policy may not be better, and what the groups cost. Without groups, return ""."""
    if "groups" not in held:
        return ""
    share, parts = held["groups' share of rho"], []
    for verdict in ("worse", "too close"):
        labels = [quoted(label) for label, found in held["groups"].items() if found["verdict"] == verdict]
        if labels:
            parts.append(filled(SAID[f"groups_{verdict.split()[-1]}"], groups=" and ".join(labels)))
    if parts and held["verdict"] == "better":
        parts.insert(0, SAID["groups_but"])
    cost = {"share": percent(share), "more": percent((1 - share) ** -0.5 - 1)}
    return " ".join([*parts, filled(SAID["groups"], **cost)])


def _three(value: float) -> float:
    return float(f"{value:.3g}")
