"""Several charts with the same axes as one figure, side by side, with one legend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dprl.figures import style
from dprl.figures.picture import Picture

GAP = 0.03  # between two panels, as a share of the figure


def side_by_side(panels: Mapping[str, Picture], axis: str) -> Picture:
    """Combine pictures into small multiples: one panel for each value of `axis`, on the same vertical axis."""
    made_of = {name: picture.figure for name, picture in panels.items()}
    figures = {
        name: {"layout": one.layout.to_plotly_json(), "data": [trace.to_plotly_json() for trace in one.data]}
        for name, one in made_of.items()
    }
    first = next(iter(figures.values()))["layout"]
    layout: dict[str, Any] = {name: value for name, value in first.items() if name not in ("xaxis", "yaxis")}
    tall = {name: made["layout"]["yaxis"] for name, made in figures.items()}
    ranges = [one["range"] for one in tall.values() if one.get("range")]
    if ranges:
        widest = max(
            tall.values(), key=lambda one: one["range"][1] - one["range"][0] if one.get("range") else 0
        )
        ticks = {name: widest[name] for name in ("tickvals", "ticktext", "tickmode") if name in widest}
        common = ticks | {"range": [min(low for low, _ in ranges), max(high for _, high in ranges)]}
        tall = {name: one | common for name, one in tall.items()}
    layout["margin"] = {
        **layout["margin"],
        "t": layout["margin"]["t"] + 24,
    }  # room for the values above the panels
    width = (1 + GAP) / len(figures)
    traces, notes = list[dict[str, Any]](), list(layout.pop("annotations", ()))
    shown = set[str]()
    for i, (name, made) in enumerate(figures.items()):
        number = "" if i == 0 else str(i + 1)
        here = [i * width, (i + 1) * width - GAP]
        layout[f"xaxis{number}"] = made["layout"]["xaxis"] | {
            "domain": here,
            "anchor": f"y{number}",
            "nticks": 4,
        }
        layout[f"yaxis{number}"] = tall[name] | {"anchor": f"x{number}"}
        if i:
            layout[f"yaxis{number}"] |= {"showticklabels": False, "title": None, "matches": "y"}
        corner = {
            "x": here[0],
            "xref": "paper",
            "xanchor": "left",
            "y": 1,
            "yref": "paper",
            "yanchor": "bottom",
        }
        notes.append({"text": style.plain(name), "showarrow": False, "font": {"size": 13}, **corner})
        for trace in made["data"]:
            known = str(trace.get("name", "")) in shown
            shown.add(str(trace.get("name", "")))
            hidden = {"showlegend": False} if known else {}
            traces.append({**trace, "xaxis": f"x{number}", "yaxis": f"y{number}", **hidden})
    tables = [picture.table.assign(**{axis: name}) for name, picture in panels.items()]
    table = pd.concat(tables, ignore_index=True)
    one = next(iter(panels.values()))
    figure = style.figure_of(layout | {"annotations": notes}, traces)
    return Picture(figure, one.alt, one.see, table[[axis, *(column for column in table if column != axis)]])
