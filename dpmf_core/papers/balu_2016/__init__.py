"""Balu & Furon 2016: its claims, presets and corrections."""

from dpmf_core.papers.balu_2016 import claims, protocol
from dpmf_core.papers.paper import read_paper

PAPER = read_paper(__name__, claims.CLAIMS, protocol.PRESETS)
