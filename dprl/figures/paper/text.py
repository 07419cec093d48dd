"""Words and colours of a page's figure as Matplotlib takes them."""

from __future__ import annotations

import base64
import re
from html import unescape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.figures import style

POINTS = (
    0.5  # of a line, a marker or a dash for each pixel that it has on a page, where text is twice as large
)
INK = style.LIGHT.ink
_RAISED = {"sup": "^", "sub": "_"}
_RGBA = re.compile(r"rgba?\(([\d.]+),\s*([\d.]+),\s*([\d.]+)(?:,\s*([\d.]+))?\)")


def words(text: Any) -> str:
    """A text with Plotly's tags as one with line breaks, and raised and lowered letters as formulas."""
    found = re.sub(r"<br\s*/?>", "\n", str(text or ""))
    found = found.replace("$", r"\$")
    found = re.sub(
        r"<(sup|sub)>(.*?)</\1>",
        lambda match: f"${_RAISED[match[1]]}{{{match[2]}}}$",
        found,
    )
    return unescape(re.sub(r"</?[a-z][^<>]*>", "", found))


def color(given: Any, opacity: float = 1.0) -> Any:
    """A colour of Plotly, #RRGGBB, rgba(...) or a name, as one of Matplotlib."""
    from matplotlib.colors import to_rgba

    given = INK if given is None else given
    found = _RGBA.fullmatch(str(given))
    if found is None:
        red, green, blue, alpha = to_rgba(given)
    else:
        red, green, blue = (float(part) / 255 for part in found.group(1, 2, 3))
        alpha = 1.0 if found[4] is None else float(found[4])
    return red, green, blue, alpha * opacity


def array(given: Any) -> NDArray[Any]:
    """An array, whether Plotly has written it down already or not."""
    if isinstance(given, dict):
        flat = np.frombuffer(base64.b64decode(given["bdata"]), np.dtype(given["dtype"]))
        shape = [int(n) for n in str(given.get("shape", flat.size)).split(",")]
        return flat.reshape(shape)
    return np.asarray(given if given is not None else [])


def as_numbers(given: Any) -> NDArray[np.float64]:
    """The same as numbers, NaN for what is missing."""
    found = array(given)
    if found.dtype == object:
        found = np.array([np.nan if value is None else value for value in found.ravel()]).reshape(found.shape)
    return found.astype(float)


def each(given: Any, count: int) -> list[Any]:
    """What Plotly takes for all points, or for each, as a list for each."""
    if isinstance(given, str) or not hasattr(given, "__len__"):
        return [given] * count
    return list(array(given))


def dashes(given: str | None) -> Any:
    """The dashes of a line."""
    named = {
        "": "solid",
        "solid": "solid",
        "dot": (0, (1.2, 1.8)),
        "dash": (0, (4.5, 2.5)),
        "dashdot": (0, (4.5, 2, 1.2, 2)),
    }
    if (given or "") in named:
        return named[given or ""]
    return 0, tuple(float(part.removesuffix("px")) * POINTS for part in str(given).split(","))
