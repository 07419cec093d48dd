"""Bounds on regret for linear mixtures of known models and for linear MDPs, each as its paper states it."""

from __future__ import annotations

from dprl.theory.bound import Bound, BoundTerm

_MIXTURE = "linear mixture of d known models, weights at most √d long, rewards known"
_LINEAR = "linear MDP with d features"
_APPROXIMATE, _PURE = "ε and δ below 1", "ε below 1, pure (δ = 0)"
_NO_FREE_PART = f"{_APPROXIMATE}; the paper omits the part free of ε, which these terms exceed"
_VTR = BoundTerm(d=1, H=2, K=0.5)  # d H^2 sqrt(K)
_VTR_PLUS = BoundTerm(d=1, H=1.5, K=0.5)  # d H^(3/2) sqrt(K)
_LSVI = BoundTerm(d=1.5, H=2, K=0.5)  # sqrt(d^3 H^4 K)


def _luyo(
    key: str, title: str, place: str, model: str, *terms: BoundTerm, where: str, given: str = _APPROXIMATE
) -> Bound:
    """Return a private bound from Luyo et al. for a class of problems, under conditions on the budget."""
    paper, budget = f"Luyo et al. 2021, {place}", "ε" if given == _PURE else "(ε, δ)"
    world = "linear mixture" if where == _MIXTURE else "linear"
    return Bound(key, title, paper, model, budget, terms, f"{where}; {given}", world=world, epsilon_below=1.0)


def _free(key: str, title: str, paper: str, term: BoundTerm, where: str) -> Bound:
    world = "linear mixture" if where.startswith(_MIXTURE) else "linear"
    return Bound(
        key, title, f"{paper}, in Luyo et al. 2021, section 2", "none", "", (term,), where, world=world
    )


REGRET = (
    _free("ucrl-vtr", "UCRL-VTR", "Ayoub et al. 2020", _VTR, _MIXTURE),
    _free("ucrl-vtr-plus", "UCRL-VTR+", "Zhou et al. 2021", _VTR_PLUS, f"{_MIXTURE}; d at least H"),
    _luyo(
        "ucrl-vtr-jdp",
        "UCRL-VTR",
        "Corollary 5",
        "central",
        *(_VTR, BoundTerm(C=1, d=0.75, H=2.25, K=0.5, epsilon=-0.5)),
        where=_MIXTURE,
    ),
    _luyo(
        "ucrl-vtr-ldp",
        "UCRL-VTR",
        "Corollary 6",
        "local",
        *(_VTR, BoundTerm(C=1, d=0.75, H=2.5, K=0.75, epsilon=-0.5)),
        where=_MIXTURE,
    ),
    *(
        _luyo(
            key,
            "UCRL-VTR, Laplace",
            "Remark 1 and Appendix D.1",
            model,
            *(_VTR, BoundTerm(C=1, d=1, H=2.5, K=K, epsilon=-0.5)),
            where=_MIXTURE,
            given=_PURE,
        )
        for key, model, K in (("ucrl-vtr-jdp-pure", "central", 0.5), ("ucrl-vtr-ldp-pure", "local", 0.75))
    ),
    _luyo(
        "ucrl-vtr-plus-jdp",
        "UCRL-VTR+",
        "Corollary 10",
        "central",
        BoundTerm(C=2, H=3.5, d=2.5, epsilon=-1),
        BoundTerm(C=1, H=2.5, d=1.25, K=0.25, epsilon=-0.5),
        BoundTerm(C=1, H=2.25, d=2, K=0.25, epsilon=-0.5),
        BoundTerm(C=1, H=1.75, d=1.25, K=0.5, epsilon=-0.5),
        BoundTerm(C=1, H=2.25, d=0.75, K=0.5, epsilon=-0.5),
        where=_MIXTURE,
        given=_NO_FREE_PART,
    ),
    _luyo(
        "ucrl-vtr-plus-ldp",
        "UCRL-VTR+",
        "Corollary 11",
        "local",
        BoundTerm(C=2, H=4, d=2.5, K=0.5, epsilon=-1),
        BoundTerm(C=1, H=2.75, d=1.25, K=0.5, epsilon=-0.5),
        BoundTerm(C=1, H=2.5, d=2, K=0.5, epsilon=-0.5),
        BoundTerm(C=1, H=2, d=1.25, K=0.75, epsilon=-0.5),
        BoundTerm(C=1, H=2.5, d=0.75, K=0.75, epsilon=-0.5),
        where=_MIXTURE,
        given=_NO_FREE_PART,
    ),
    _free("lsvi-ucb", "LSVI-UCB", "Jin et al. 2020", _LSVI, _LINEAR),
    _luyo(
        "lsvi-ucb-jdp",
        "LSVI-UCB in batches",
        "Theorem 8",
        "central",
        *(_LSVI, BoundTerm(d=1.6, H=2.2, K=0.6, epsilon=-0.4)),
        where=f"{_LINEAR}, rewards known",
        given=f"{_APPROXIMATE}; for local privacy it is an open question",
    ),
    _luyo(
        "lsvi-ucb-jdp-unbatched",
        "LSVI-UCB, not in batches",
        "Remarks 3 and 7",
        "central",
        *(_LSVI, BoundTerm(d=1.25, H=2.25, K=0.75, epsilon=-0.5)),
        where="as in batches",
        given="stated in remarks with an argument, not as a theorem",
    ),
    _luyo(
        "lsvi-ucb-jdp-pure",
        "LSVI-UCB in batches, Laplace",
        "Remark 2 and Appendix E.3",
        "central",
        *(_LSVI, BoundTerm(d=5 / 3, H=7 / 3, K=2 / 3, epsilon=-1 / 3)),
        where=f"{_LINEAR}, rewards known",
        given=_PURE,
    ),
)
