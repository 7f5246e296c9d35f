"""What speaks with other tools: each module imports the one that it is named after, which dpmf does
not install.
"""
