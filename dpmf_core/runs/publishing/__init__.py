"""Released models: files for publication, read with numpy alone, with a privacy statement."""
