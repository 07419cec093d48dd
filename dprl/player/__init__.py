"""A web page (one HTML file) that simulates its runs live in the browser, without a server."""

from dprl.player.content import PlayedCurve, PlayedMeasure, Shown, sizes_of
from dprl.player.page import MOST_BYTES, player_page
