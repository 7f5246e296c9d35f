"""Saha & Imtiaz 2022: its claims, presets and corrections."""

from dpmf_core.papers.paper import read_paper
from dpmf_core.papers.saha_2022 import claims

PAPER = read_paper(__name__, claims.CLAIMS, claims.PRESETS)
