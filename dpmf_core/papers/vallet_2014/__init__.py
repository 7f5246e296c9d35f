"""Vallet et al. 2014: its claims, presets and corrections."""

from dpmf_core.papers.paper import read_paper
from dpmf_core.papers.vallet_2014 import claims, protocol

PAPER = read_paper(__name__, claims.CLAIMS, protocol.PRESETS)
