"""A short glossary and where to read more."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dprl.glossary import listed
from dprl.sitemap import PAGES
from pages.shared.text import escape
from pages.shared.visitor.state import session

WORDS = listed("online")
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


OF_DATA_SETS = listed("offline")
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


OF_LINEAR_MODELS = listed("linear")
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


def guide() -> None:
    """A link to the document about this page, where the documents are served."""
    page = PAGES[session().page or ""]
    if page.guide and st.get_option("server.enableStaticServing"):
        st.markdown(f":material/help: [Documentation of this page](app/static/docs/{page.guide}.html)")


def words_and_papers(words: Mapping[str, str] = WORDS, papers: Mapping[str, str] = PAPERS) -> None:
    """At the foot of a page: the document about it, and two folded lists."""
    guide()
    with st.expander("Words used here", icon=":material/menu_book:"):
        st.markdown("\n".join(f"- **{escape(word)}:** {meaning}" for word, meaning in words.items()))
    with st.expander("The papers", icon=":material/article:"):
        st.markdown("\n".join(f"- [{title}]({address})" for title, address in papers.items()))
