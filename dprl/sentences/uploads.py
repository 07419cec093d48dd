"""What is said of an uploaded data set: what is public of it, what is kept, and what a release costs."""

from __future__ import annotations

DECLARED = (
    "States, actions, steps and rewards are **declared by you** and count as public. They are never read off the file: "
    "if one person were in a state that nobody else was in, a list of states made from the file would show that, "
    "whatever the noise."
)
CLIPPED = (
    "A label that is not declared counts as the *last* declared one (end the list with one such as *other*), a reward "
    "outside its range as the nearest end. Nothing that is released says how often: a server that is not public tells "
    "you alone, before you release anything."
)
OUTSIDE = (
    "**Only for you: this note is not private.** Part of your file is outside of what you declared. The note is kept "
    "nowhere: not in the store, a release, a link or a log."
)
NOT_MEANT = (
    "If you meant otherwise: *Forget the data*, mend the file or the declaration, and give the file again."
)
KEPT = (
    "The file is read once and not kept; its counts are, for 24 hours or until you forget them, readable by this "
    "server alone. A link carries what you declare and the budgets, nothing of the data."
)
MALFORMED = "When a file is malformed, the sentence that says so is for you: it is not private."
LINKED = (
    "This link is about a private data set, which travels in no link: give its file below. What was declared of it, "
    "and the budgets, are filled in."
)
NOT_PRIVATE = (
    "The model is fitted to the counts **without noise**: it is *not private*, a count of one person shows in it. It "
    "goes into the address of Explore and into the store of this server."
)
ESTIMATE = (
    "It is an estimate: a pair of state and action that nobody tried at a step has the frequencies of all steps, one "
    "that nobody ever tried stays where it is."
)


def spent(total: str) -> str:
    """What several releases cost together. total: in words, safe to show."""
    return (
        f"Released since this file was read: **{total}** in all. Each further budget adds to it, and so does reading "
        "the file anew; the same budget again shows the same noisy counts and costs nothing."
    )
