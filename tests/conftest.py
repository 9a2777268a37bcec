"""How hypothesis searches: the same examples on every run, many more of them when evidence is gathered."""

import os

from hypothesis import HealthCheck, settings

# Derandomized, so that a red run can be repeated. No deadline and no complaint about slow generation: both
# measure the machine (a kernel being compiled, a busy core), not the property.
settings.register_profile(
    "default",
    derandomize=True,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("evidence", settings.get_profile("default"), max_examples=2_000)
settings.load_profile("evidence" if os.environ.get("MASKWELL_EVIDENCE") == "1" else "default")
