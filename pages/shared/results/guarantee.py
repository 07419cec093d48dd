"""Draw claimed and proved guarantees: whole cards for runs on data sets, and parts of cards for online runs."""

from __future__ import annotations

import streamlit as st

from dprl.fields import SpecError
from dprl.figures.guarantee import who_sees_what
from dprl.messages import messages
from dprl.privacy import Guarantee
from dprl.privacy.curator import NOISY_WAY, RAW_WAY
from dprl.sentences import promise as said
from dprl.sentences.noise import IN_A_COUNT
from dprl.simulation import OfflineSpec, Spec, UploadSpec
from dprl.words import at_most, human, promise, proves
from pages.shared.layout.chart import sketch
from pages.shared.layout.frame import dark
from pages.shared.layout.terms import escape, explained
from pages.shared.results import answers
from pages.shared.results.status import working_out


def guarantee_of(run: Spec) -> tuple[Guarantee | None, str]:
    """Return the guarantee of a run once a worker has computed it, and the reason if there is none."""
    try:
        return answers.guarantee(run), ""
    except SpecError as error:
        return None, f":red[{escape(str(error))}]"


def promised(spec: OfflineSpec | UploadSpec, key: int) -> None:
    """Draw a run's guarantee in words and numbers, once a worker has computed it."""
    g, wrong = guarantee_of(spec)
    if g is None:
        st.caption(wrong or working_out("the guarantee of this noise"))
        return
    private = spec.calibration is not None
    way = NOISY_WAY if private else RAW_WAY
    sketch(who_sees_what(way, "central" if private else "none", dark=dark()))
    st.markdown(explained(f"**{messages('pages')['guarantee'][g.model]}**"))
    st.markdown(explained(escape(g.trust)))
    if not private:
        return
    of_people = isinstance(spec, UploadSpec) and spec.public.of_people
    who = said.PERSON if of_people or spec.contribution > 1 else said.TRAJECTORY
    noise = "Standard deviation of the noise in one visit count of the data set."
    verdict_and_budget(g, key, noise, said.BLANKED, who)
    facts(g)
    assumptions(g)


def verdict_and_budget(
    g: Guarantee, key: int, noise: str, blanked: str, who: str = "user", calibrated: bool = False
) -> None:
    """Show whether the claim is proved, and the numbers with their meanings. `noise` is the help text about the noise
    in a count; see `about_promise` for the last three arguments."""
    if g.claimed_rho is not None:
        good, sentence = said.concentrated_verdict(g.claimed_rho, g.proved_rho or 0.0, who)
        budgets = {"Claimed ρ": human(g.claimed_rho), "Proved ρ": at_most(g.proved_rho or 0.0)}
    else:
        claim = g.claimed_epsilon or 0.0, g.claimed_delta or 0.0
        good, sentence = said.about_promise(*claim, g.readings, blanked, who, calibrated=calibrated)
        budgets = {"Claimed (ε, δ)": promise(*claim), "Proved (ε, δ)": proved(g)}
    st.markdown(explained(f":material/{'verified' if good else 'warning'}: {sentence}"))
    with st.container(horizontal=True, gap="medium", key=f"budget_{key}"):
        for name, budget in budgets.items():
            st.metric(name, budget, width="content")
        if g.noise_std is not None:
            st.metric(IN_A_COUNT, f"{human(g.noise_std)} visits", width="content", help=noise)
    st.markdown(explained(said.readings(g.readings, blanked, who)))


def proved(g: Guarantee) -> str:
    """Write the guarantee that we prove for replacing one user, at the run's own delta."""
    return "–" if g.proved_epsilon is None else proves(g.proved_epsilon, g.proved_delta or 0.0)


def facts(g: Guarantee, scale: str = "") -> None:
    """List facts about a guarantee, with the noise scale of one draw if it is given."""
    rows = {
        "Protected": g.unit,
        "Noise": f"{g.mechanism}: {g.noise_formula}",
        "Scale of one draw": scale,
        "Noise placement": g.where,
        "A user sends": g.messages,
        "Public, so not protected": " · ".join(g.public),
    }
    st.markdown(explained("\n".join(f"- **{name}:** {escape(text)}" for name, text in rows.items() if text)))


def assumptions(g: Guarantee) -> None:
    with st.expander("Assumptions and sources"):
        st.markdown("\n".join(f"- {escape(text)}" for text in g.assumptions))
        st.caption(escape("Sources: " + "; ".join(dict.fromkeys(g.sources)) + "."))
        if st.get_option("server.enableStaticServing"):
            address = "app/static/docs/reference/sentences.html"
            st.markdown(f":material/help: [Why each sentence about privacy is true]({address})")
