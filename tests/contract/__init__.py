import pytest

pytest.register_assert_rewrite(
    "dpmf_core.testing.privacy_laws", "dpmf_core.testing.probes"
)
