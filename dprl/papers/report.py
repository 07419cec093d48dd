"""The verdict on a claim with its numbers, as text for the command line and as data for the page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import dprl
from dprl.metrics.curves import Evidence
from dprl.metrics.verdicts import Finding, Verdict, overall
from dprl.papers.claim import Claim
from dprl.sentences import papers as sentences
from dprl.simulation.base import engine


def version() -> dict[str, str]:
    """Return the versions of the software that affect the numbers."""
    sources, numba, numpy = engine()
    return {"dprl": dprl.__version__, "sources": sources[:10], "numba": numba, "numpy": numpy}


@dataclass(frozen=True)
class ClaimReport:
    """The verdict on a claim, with a summary and each setting's measurement as numbers and in words."""

    claim: Claim
    verdict: Verdict
    summary: str
    findings: tuple[Finding, ...]
    numbers: tuple[str, ...]

    def text(self) -> str:
        """Return the report as text for a terminal."""
        lines = [f"{self.claim.key}: {self.claim.says}", f"  {self.claim.source}", f"  {self.summary}"]
        for setting, found, numbers in zip(self.claim.settings, self.findings, self.numbers, strict=True):
            lines += [
                f"  - {setting.title}",
                f"    {setting.statistic}: {numbers}; claimed: {setting.asks}. "
                f"{found.verdict[:1].upper()}{found.verdict[1:]}.",
            ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON data; unknown numbers become None."""
        return {
            "claim": self.claim.key,
            "says": self.claim.says,
            "source": self.claim.source,
            "conditions": self.claim.conditions,
            "verdict": self.verdict,
            "summary": self.summary,
            "settings": [
                {
                    "title": setting.title,
                    "statistic": setting.statistic,
                    "claimed": setting.asks,
                    **{
                        name: value if math.isfinite(value) else None
                        for name in ("value", "low", "high", "threshold")
                        for value in (getattr(found, name),)
                    },
                    "verdict": found.verdict,
                    "specs": [spec.to_dict() for spec in setting.specs],
                }
                for setting, found in zip(self.claim.settings, self.findings, strict=True)
            ],
            "version": version(),
        }


def report(claim: Claim, evidence: Evidence) -> ClaimReport:
    """Judge a claim by its evidence."""
    findings = tuple(setting.judge(evidence) for setting in claim.settings)
    verdicts = [found.verdict for found in findings]
    return ClaimReport(
        claim,
        overall(verdicts),
        sentences.about_verdicts(verdicts),
        findings,
        tuple(
            sentences.finding(found, setting.form)
            if setting.over
            else sentences.number_of(found.value, setting.form)
            for setting, found in zip(claim.settings, findings, strict=True)
        ),
    )
