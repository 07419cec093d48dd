"""A short glossary and where to read more."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dprl.sentences import promise
from pages.shared.text import escape

WORDS = {
    "Episode": "what one user contributes: H steps of acting and being rewarded. Privacy protects whole episodes.",
    "Regret": "the reward lost by not having played the best policy from the start, summed over all episodes.",
    "Price of privacy": "the loss beyond that of the same learner without privacy.",
    "ε (epsilon)": promise.EPSILON,
    "δ (delta)": promise.DELTA,
    "JDP": promise.JOINT,
    "SDP": promise.SHUFFLED,
    "LDP": promise.LOCAL,
    "Mechanism": "how the noise is drawn, for example Laplace noise in the nodes of a binary tree of running sums.",
    "Claimed and proved": "what a paper says its noise promises, and what our accountant can prove of that noise.",
    "Released counts": "how often each state and action was seen, with noise: all that the planner is told.",
    "Noise bound E": "how large the noise of any count gets, at any time, except with a small chance β.",
    "Bonus": "what the planner adds to the value of little-tried actions, so that it tries them.",
    "Same seed without privacy": "the same run without noise, on the same stream of users.",
    "Decade": "a factor of ten: from a thousand users to ten thousand, say.",
    "Calibrated noise": "as much as is needed to prove (ε, δ), by our accountant, and no more.",
    "Exploration noise": "what RLSVI adds to its estimates so that it tries what is uncertain; no privacy is proved.",
    "Paper constants, anytime bonus": "bounds as a paper prints them, or ours, proved to hold at all times.",
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
    "Russo: Worst-case regret bounds for exploration via randomized value functions (NeurIPS 2019), RLSVI": (
        "https://arxiv.org/abs/1906.02870"
    ),
    "Lu, Gajane, Bai, Talebi: Randomized least squares value iteration itself is joint differentially private (2026)": (
        "https://arxiv.org/abs/2606.01952"
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


OF_DATA_SETS = {
    "Trajectory": "what was written down of one person: one whole episode. It is what is protected.",
    "Behaviour policy": "how the people acted, or were treated, whom the data come from.",
    "Curator": "holds the trajectories and releases noisy sums of them; the learner sees nothing else.",
    "Gap": "what the learned policy earns less than the best one, in an episode.",
    "Pessimism": "what is uncertain counts as bad: a penalty Γ is taken off what an action seems worth.",
    "Low estimate V~": "what the learner believes that its policy earns at least.",
    "Coverage d^μ": "the share of the trajectories that are in a state and take an action at a step.",
    "ρ (rho)": promise.RHO,
    "ε (epsilon), δ (delta)": "with another trajectory in the place of one, the chance of any outcome is at most "
    "exp(ε) times what it was, plus δ.",
    "Claimed and proved": WORDS["Claimed and proved"],
    "Same seed without privacy": "the same learner without noise, on the same data sets.",
    "v*": "what the best policy earns in an episode: all that there is to lose.",
}
PAPERS_ON_DATA_SETS = {
    "Qiao, Wang: Offline reinforcement learning with differential privacy (NeurIPS 2023), DP-APVI and DP-VAPVI": (
        "https://arxiv.org/abs/2206.00810"
    ),
    "Yin, Wang: Towards instance-optimal offline reinforcement learning with pessimism (NeurIPS 2021), APVI": (
        "https://arxiv.org/abs/2110.08695"
    ),
    "Yin, Duan, Wang, Wang: Near-optimal offline reinforcement learning with linear representation (2022), VAPVI": (
        "https://arxiv.org/abs/2203.05804"
    ),
    "Jin, Yang, Wang: Is pessimism provably efficient for offline RL? (ICML 2021), PEVI": (
        "https://arxiv.org/abs/2012.15085"
    ),
    "Bun, Steinke: Concentrated differential privacy (TCC 2016), zCDP": "https://arxiv.org/abs/1605.02065",
}


OF_LINEAR_MODELS = {
    "Features": "known to everybody: φ(s'|s, a), d numbers for each transition, whose chance is <φ(s'|s, a), wₕ>.",
    "Weights wₕ": "how much each feature counts at step h: what is learned. How long they can be is known.",
    "Regression": "the learner predicts its own value of the next state from features; sums over users suffice.",
    "Region": "the weights that the released sums leave possible: the bonus is how far they can be from the estimate.",
    "Eigenvalue": "how much a direction of the weights has been seen; noise moves it by a bounded amount.",
    "Ridge": "what is added to every eigenvalue before the regression is solved.",
    **{
        word: WORDS[word]
        for word in ("Episode", "Regret", "ε (epsilon)", "δ (delta)", "JDP", "LDP", "Claimed and proved")
    },
}
PAPERS_ON_LINEAR_MODELS = {
    title: address for title, address in PAPERS.items() if "linear representation" in title
} | {
    "Ayoub, Jia, Szepesvári, Wang, Yang: Model-based reinforcement learning with value-targeted regression "
    "(ICML 2020), UCRL-VTR": "https://arxiv.org/abs/2006.01107",
    "Zhou, Gu, Szepesvári: Nearly minimax optimal reinforcement learning for linear mixture Markov decision processes "
    "(COLT 2021), UCRL-VTR+": "https://arxiv.org/abs/2012.08507",
    "Ngo, Vietri, Wu: Improved regret for differentially private exploration in linear MDP (2022), LSVI-UCB (rare)": (
        "https://arxiv.org/abs/2202.01292"
    ),
    "Sahu: Towards optimal differentially private regret bounds in linear MDPs (2025), LSVI-UCB++": (
        "https://arxiv.org/abs/2504.09339"
    ),
    "He, Zhao, Zhou, Gu: Nearly minimax optimal reinforcement learning for linear Markov decision processes (ICML "
    "2023), LSVI-UCB++ without privacy": "https://arxiv.org/abs/2212.06132",
    "Abbasi-Yadkori, Pál, Szepesvári: Improved algorithms for linear stochastic bandits (NeurIPS 2011)": (
        "https://papers.nips.cc/paper/4417-improved-algorithms-for-linear-stochastic-bandits"
    ),
}


def words_and_papers(words: Mapping[str, str] = WORDS, papers: Mapping[str, str] = PAPERS) -> None:
    """Two folded lists at the foot of a page."""
    with st.expander("Words used here", icon=":material/menu_book:"):
        st.markdown("\n".join(f"- **{escape(word)}:** {meaning}" for word, meaning in words.items()))
    with st.expander("The papers", icon=":material/article:"):
        st.markdown("\n".join(f"- [{title}]({address})" for title, address in papers.items()))
