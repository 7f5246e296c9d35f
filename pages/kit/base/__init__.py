"""What every page stands on: its address, links, data sets, safe text, turns and lesson."""
