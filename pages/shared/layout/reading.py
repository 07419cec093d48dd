"""A short glossary and where to read more."""

from __future__ import annotations

import streamlit as st

from dprl.sentences import promise

WORDS = {
    "Episode": "what one user contributes: H steps of acting and being rewarded. Privacy protects whole episodes.",
    "Regret": "the reward lost by not having played the best policy from the start, summed over all episodes.",
    "ε (epsilon)": promise.EPSILON,
    "δ (delta)": promise.DELTA,
    "JDP": promise.JOINT,
    "SDP": promise.SHUFFLED,
    "LDP": promise.LOCAL,
    "Mechanism": "how the noise is drawn, for example Laplace noise in the nodes of a binary tree of running sums.",
    "Claimed and proved": "what a paper says its noise promises, and what our accountant can prove of that noise.",
    "Released counts": "how often each state and action was seen, with noise: all that the planner is told.",
    "E": "a bound that the noise of all counts keeps at all times, with high probability.",
    "Bonus": "what the planner adds to the value of little-tried actions, so that it tries them.",
    "Non-private twin": "the same run without noise, on the same stream of users.",
    "V*": "what an optimal policy earns in an episode: the most that an episode can lose.",
}
PAPERS = {
    "Qiao, Wang: Near-optimal differentially private reinforcement learning (AISTATS 2023), DP-UCBVI": (
        "https://arxiv.org/abs/2212.04680"
    ),
    "Vietri, Balle, Krishnamurthy, Wu: Private reinforcement learning with PAC and regret guarantees (ICML 2020)": (
        "https://arxiv.org/abs/2009.09052"
    ),
    "Bai, Talebi, Zhao, Cheng, Chen: No-regret exploration in shuffle private reinforcement learning (2025), SDP-PE": (
        "https://arxiv.org/abs/2411.11647"
    ),
    "Luyo, Garcelon, Lazaric, Pirotta: Differentially private exploration in reinforcement learning with linear "
    "representation (2021), UCRL-VTR and LSVI-UCB": "https://arxiv.org/abs/2112.01585",
    "Azar, Osband, Munos: Minimax regret bounds for reinforcement learning (ICML 2017), UCBVI": (
        "https://arxiv.org/abs/1703.05449"
    ),
    "Chan, Shi, Song: Private and continual release of statistics (2011), the tree": (
        "https://eprint.iacr.org/2010/076"
    ),
    "Fichtenberger, Henzinger, Upadhyay: Constant matters (ICML 2023), the Toeplitz factorisation": (
        "https://arxiv.org/abs/2202.11205"
    ),
    "Dvijotham, McMahan, Pillutla, Steinke, Thakurta: Efficient and near-optimal noise generation for streaming "
    "differential privacy (FOCS 2024), the buffered Toeplitz factorisation": "https://arxiv.org/abs/2404.16706",
    "Denisov, McMahan, Rush, Smith, Thakurta: Improved differential privacy for SGD via optimal private linear "
    "operators on adaptive streams (NeurIPS 2022), optimal factorisations": "https://arxiv.org/abs/2202.08312",
}


def words_and_papers() -> None:
    """Two folded lists at the foot of a page."""
    with st.expander("Words used here", icon=":material/menu_book:"):
        st.markdown("\n".join(f"- **{word}:** {meaning}" for word, meaning in WORDS.items()))
    with st.expander("The papers", icon=":material/article:"):
        st.markdown("\n".join(f"- [{title}]({address})" for title, address in PAPERS.items()))
