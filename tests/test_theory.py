"""Every proved bound against values worked out by hand, and the laws it must follow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dprl.theory import BOUNDS, BoundSetting

# Chosen so that every root is exact: S=4, A=9, H=16, K=10^8 (its fourth root is 100), d=16 (sqrt(d)+1 = 5),
# epsilon=1/4 (1/sqrt(epsilon) = 2), alpha=1/2, beta=1/4, rho=1/4, d_m=1/100, kappa=1/16.
AT = BoundSetting(
    S=4, A=9, H=16, K=1e8, epsilon=0.25, d=16, alpha=0.5, beta=0.25, rho=0.25, coverage=0.01, kappa=0.0625
)

# Fifth roots for lsvi-ucb-jdp: d^(8/5) H^(11/5) = 16^(19/5) = 2^(76/5); K^(3/5) = 10^(24/5); eps^(-2/5) = 2^(4/5).
# Together 2^(80/5) * 10^(24/5) = 2^16 * 10^4.8 = 65,536 * 63,095.7344480193 = 4,135,042,052.785394.

# Third roots for lsvi-ucb-jdp-pure: d^(5/3) H^(7/3) eps^(-1/3) K^(2/3) = 2^(50/3) 10^(16/3)
# = 2^16 * 10^5 * (2^2 * 10)^(1/3) = 6,553,600,000 * 3.419951893353394 = 22,412,996,728.2808.

# key: (part without epsilon, price of privacy)
BY_HAND: dict[str, tuple[float, float]] = {
    # sqrt(S A H^3 K) = sqrt(4 * 9 * 4096 * 10^8) = 2 * 3 * 64 * 10^4
    "minimax": (3_840_000, 0),
    "ucbvi": (3_840_000, 0),
    # H^2 sqrt(S A K) = 256 * 2 * 3 * 10^4
    "ubev": (15_360_000, 0),
    # S sqrt(A H^5 K) = 4 * 3 * 1024 * 10^4
    "apeve": (122_880_000, 0),
    # H^2 sqrt(S A K), then (S A H^3 + S^2 A H^3) / eps = (4*9*4096 + 16*9*4096) * 4 = (147,456 + 589,824) * 4
    "pucb": (15_360_000, 2_949_120),
    # S H^2 sqrt(A K) = 4 * 256 * 3 * 10^4; S^2 A H^3 / eps = 589,824 * 4
    "pucb-restated": (30_720_000, 2_359_296),
    "private-ucb-po-jdp": (30_720_000, 2_359_296),
    "private-ucb-vi-jdp": (15_360_000, 2_359_296),
    "dp-ucbvi-jdp": (3_840_000, 2_359_296),
    # sqrt(H S A K) = 4 * 2 * 3 * 10^4; S A H ln(K) / eps = 4*9*16 * 4 * 8 ln(10) = 18,432 * 2.302585092994046
    "jdp-lower": (240_000, 42_441.248434066256),
    # S sqrt(A H^5 K); S^3 A^2 H^6 / eps = 64 * 81 * 16,777,216 * 4 = 5,184 * 67,108,864
    "sdp-pe": (122_880_000, 347_892_350_976),
    # S H^2 sqrt(A K); S^2 A H^3 sqrt(K) / eps = 2,359,296 * 10^4
    "ldp-obi": (30_720_000, 23_592_960_000),
    # H^(3/2) S sqrt(A K) = 64 * 4 * 3 * 10^4
    "ldp-obi-stationary": (7_680_000, 23_592_960_000),
    "private-ucb-po-ldp": (30_720_000, 23_592_960_000),
    "private-ucb-vi-ldp": (15_360_000, 23_592_960_000),
    "dp-ucbvi-ldp": (3_840_000, 23_592_960_000),
    # d H^2 sqrt(K) = 16 * 256 * 10^4
    "ucrl-vtr": (40_960_000, 0),
    # d H^(3/2) sqrt(K) = 16 * 64 * 10^4
    "ucrl-vtr-plus": (10_240_000, 0),
    # (C+1) d^(3/4) H^(9/4) sqrt(K) / sqrt(eps) = 5 * 8 * 512 * 10^4 * 2
    "ucrl-vtr-jdp": (40_960_000, 409_600_000),
    # (C+1) d^(3/4) H^(5/2) K^(3/4) / sqrt(eps) = 5 * 8 * 1024 * 10^6 * 2
    "ucrl-vtr-ldp": (40_960_000, 81_920_000_000),
    # (C+1) d H^(5/2) sqrt(K) / sqrt(eps) = 5 * 16 * 1024 * 10^4 * 2
    "ucrl-vtr-jdp-pure": (40_960_000, 1_638_400_000),
    # the same with K^(3/4) = 10^6 for sqrt(K) = 10^4
    "ucrl-vtr-ldp-pure": (40_960_000, 163_840_000_000),
    # (C+1)^2 H^(7/2) d^(5/2) / eps = 25 * 16,384 * 1,024 * 4 = 1,677,721,600; then (C+1)/sqrt(eps) = 10 times
    # (H^(5/2) d^(5/4) + H^(9/4) d^2) K^(1/4) = (1024*32 + 512*256) * 100 = 16,384,000 and
    # (H^(7/4) d^(5/4) + H^(9/4) d^(3/4)) K^(1/2) = (128*32 + 512*8) * 10^4 = 81,920,000
    "ucrl-vtr-plus-jdp": (0, 1_677_721_600 + 163_840_000 + 819_200_000),
    # (C+1)^2/eps H^4 d^(5/2) K^(1/2) = 100 * 65,536 * 1,024 * 10^4 = 67,108,864,000,000; then 10 times
    # (H^(11/4) d^(5/4) + H^(5/2) d^2) K^(1/2) = (2048*32 + 1024*256) * 10^4 = 3,276,800,000 and
    # (H^2 d^(5/4) + H^(5/2) d^(3/4)) K^(3/4) = (256*32 + 1024*8) * 10^6 = 16,384,000,000
    "ucrl-vtr-plus-ldp": (0, 67_108_864_000_000 + 32_768_000_000 + 163_840_000_000),
    # d^(3/2) H^2 sqrt(K) = 64 * 256 * 10^4
    "lsvi-ucb": (163_840_000, 0),
    "lsvi-ucb-jdp": (163_840_000, 4_135_042_052.785394),
    # d^(5/4) H^(9/4) K^(3/4) / sqrt(eps) = 32 * 512 * 10^6 * 2
    "lsvi-ucb-jdp-unbatched": (163_840_000, 32_768_000_000),
    "lsvi-ucb-jdp-pure": (163_840_000, 22_412_996_728.2808),
    # S A H^4 / alpha^2 = 4*9*65,536 * 4; S^2 A H^4 / (eps alpha) = 16*9*65,536 * 4 * 2
    "pucb-pac": (9_437_184, 75_497_472),
    # S A H^2 / alpha^2 = 4*9*256 * 4; S A H ln(1/beta) / (alpha eps) = 576 * 2 * 4 * ln 4 = 4,608 * 1.386294361119891
    "jdp-pac-lower": (36_864, 6_388.044416040457),
    # sqrt(H^3 / (K d_m)) + H^3 / (K d_m) = sqrt(4096 / 10^6) + 4096 / 10^6
    "apvi": (0.068096, 0),
    # S H^(5/2) / (K d_m sqrt(rho)) = 4 * 1024 * 2 / 10^6
    "dp-apvi": (0.068096, 0.008192),
    # S H^3 / (K d_m eps) = 4 * 4096 * 4 / 10^6
    "dp-apvi-pure": (0.068096, 0.065536),
    # H^2 sqrt(d / (kappa K)) = 256 * 16 / 10^4
    "vapvi": (0.4096, 0),
    # d H^(11/2) / (kappa^(3/2) K sqrt(rho)) = 16 * 4,194,304 * 64 * 2 / 10^8
    "dp-vapvi": (0.4096, 85.89934592),
}


@pytest.mark.parametrize("key", BOUNDS)
def test_a_row_is_what_was_worked_out_by_hand(key: str) -> None:
    free, price = BY_HAND[key]
    bound = BOUNDS[key]
    assert sum(float(term.value(AT)) for term in bound.terms if not term.private) == pytest.approx(free)
    assert float(bound.price(AT)) == pytest.approx(price, rel=1e-12)
    assert float(bound.value(AT)) == pytest.approx(free + price, rel=1e-12)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("dp-ucbvi-jdp", "Õ(√(SAH³K) + S²AH³/ε)"),
        ("jdp-lower", "Ω(√(SAHK) + SAH ln K/ε)"),
        ("sdp-pe", "Õ(S√(AH⁵K) + S³A²H⁶/ε)"),
        ("ucrl-vtr-ldp", "Õ(dH²√K + (√d+1)d^(3/4)K^(3/4)√(H⁵)/√ε)"),
        ("lsvi-ucb-jdp", "Õ(H²√(d³K) + d^(8/5)H^(11/5)K^(3/5)/ε^(2/5))"),
        ("dp-apvi", "Õ(√(H³/(Kdₘ)) + H³/(Kdₘ) + S√(H⁵)/(Kdₘ√ρ))"),
        ("dp-vapvi", "Õ(H²√(d/(κK)) + d√(H¹¹/κ³)/(K√ρ))"),
        ("jdp-pac-lower", "Ω(SAH²/α² + SAH ln(1/β)/(εα))"),
    ],
)
def test_formulas_are_written_as_people_write_them(key: str, text: str) -> None:
    assert BOUNDS[key].formula == text


def test_a_curve_of_values_is_each_value_by_itself() -> None:
    K = np.logspace(3, 15, 7)
    for bound in BOUNDS.values():
        curve = bound.value(replace(AT, K=K))
        assert curve.shape == K.shape
        assert curve[3] == pytest.approx(float(bound.value(replace(AT, K=K[3]))))


def test_what_a_theorem_assumes_is_checked() -> None:
    assert BOUNDS["sdp-pe"].unmet(BoundSetting(4, 9, 16, 1e8, epsilon=1.0)) == "proved for ε below 1"
    assert BOUNDS["sdp-pe"].unmet(AT) == ""
    assert BOUNDS["jdp-lower"].unmet(replace(AT, K=4)) == "proved for K from S^1.1"  # 4^1.1 = 4.59
    assert BOUNDS["jdp-lower"].unmet(replace(AT, K=5)) == ""
    assert BOUNDS["dp-ucbvi-jdp"].unmet(BoundSetting(4, 9, 16, 1, epsilon=1000.0)) == ""
