"""What pages share; no page itself.

Around a page: `navigation` (its script), `page_table`, `links`, `drawing` (when parts are drawn),
`safe_text`, `components` (in the browser).
The chosen run: `sidebar`, `sidebar_values`, `data_sets`, `forms`, `session_widgets`.
Runs and their cost: `runs`, `run_request`, `time_estimate`, `epsilon_grid`, `purchases`,
`odometer`, `exports`.
Figures: `charts`, `colours`, `sweep_charts`, `comparison`, `payers`, `matched_parts`.
Privacy in words and pictures: `privacy_card`, `diagrams`.
Lessons: `lesson`, `lesson_heading`, `lesson_maker`.
`factorisation` is the page that Topics and Faces have in common.
"""
