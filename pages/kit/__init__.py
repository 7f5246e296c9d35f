"""What pages share; no page itself.

`navigation` is the script around every page, and `sidebar` holds the chosen run. `components` are
drawn by the browser. The other folders say what they hold: `base`, `figures`, `controls`,
`privacy`, `running`, `first_views`, `lessons`.
"""
