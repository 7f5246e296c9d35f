import pytest

pytest.register_assert_rewrite("tests.contract.privacy_laws", "tests.contract.probes")
