"""Released models: saved as files that can be published, read with numpy alone, with a privacy
statement.
"""
