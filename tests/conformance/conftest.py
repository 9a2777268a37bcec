"""Let a failing check show the values that it compared."""

import pytest

pytest.register_assert_rewrite("tests.conformance.checks", "tests.conformance.sampling_checks")
