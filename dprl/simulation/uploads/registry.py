"""A release as an entry of OpenDP's registry of deployments, for its owner to complete.

The form is that of template.yaml at commit 057e5d8 of opendp/deployments-registry-data. JSON is YAML, too. Fields that
only the owner can fill are empty.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dprl.simulation.uploads.trace import UploadTrace

RELEASED = (
    "noisy counts of transitions by step, state and action (and noisy sums of rewards where these are not declared); "
    "over users held out, noisy sums of scores of two policies, of returns and of their squares"
)


def registry_entry(trace: UploadTrace) -> str:
    """Return the entry of a release as text."""
    spec, card, policy = trace.spec, trace.guarantee, trace.portable
    versions = ", ".join(f"{name} {version}" for name, version in policy.about["versions"].items())
    deployment = {
        "basic": {
            "name": "", "data_curators": [{"data_curator_name": "", "data_curator_type": ""}], "description": "",
            "intended_use": "", "data_product_type": "Machine learning model", "data_product_region": "",
            "data_product_sector": "", "publication_date": "",
        },
        "dp_variant": {
            "variant_name": "Zero-concentrated DP",
            "data_domain": f"episodes of {spec.problem_size.H} steps over states and actions that are declared",
            "unprotected_quantities": "; ".join(card.public),
        },
        "privacy_loss": {
            "privacy_unit": card.unit,
            "privacy_unit_details": card.adjacency,
            "number_of_privacy_units": 1,
            "privacy_parameters": {"rho": card.proved_rho},
            "privacy_parameters_details": f"epsilon = {card.proved_epsilon:g} at delta = {card.proved_delta:g} follows",
        },
        "deployment_model": {
            "model_name": "Central", "model_name_details": "", "trust_assumptions": "the owner of the data is trusted",
            "actors": "", "release_type": "", "release_type_details": "all releases under one budget add up",
            "data_source_type": "Static", "data_source_type_details": "", "access_type": "Non-interactive",
            "access_type_details": "",
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": "none: everything is declared before the file is read",
            "mechanisms": f"{card.mechanism}, {card.noise_formula}, drawn exactly on a grid. Released: {RELEASED}",
            "composition": "zero-concentrated privacy adds up within a group of users; the two groups are disjoint",
            "post_processing": "both policies, the bound and the verdict follow from the released sums",
            "justification": "; ".join(card.assumptions),
            "utility": f"verdict: {trace.verdict or 'none'}",
            "additional_information": f"{versions}. SHA-256 of policy.json's content: {policy.digest}",
        },
        "administrative": {"evidence_sources": {}, "status": "Draft", "registry_authors": [""], "tier": 3},
    }  # fmt: skip
    return json.dumps({"url_slug": "", "deployment": deployment}, indent=1, ensure_ascii=False) + "\n"
