"""The list of topics; a new one is a module with ``run`` and a line here."""

from collections.abc import Callable

from tests.evidence import (
    bootstrap_coverage,
    complex_samples,
    compliance,
    coverage,
    cramers_v,
    exact_coverage,
    forged_files,
    homogeneity_level,
    homogeneity_power,
    independence_default,
    independence_power,
    independence_size,
    masking,
    parity,
    regression_coverage,
    release_attack,
    release_blocks,
    replicated_survey,
    risk_weights,
    round_changes,
    sampled_compliance,
    sampled_tests,
    sampler,
    spark_failures,
    sums,
    top_limits,
    weights,
)
from tests.evidence.collect import faults as collect_faults
from tests.evidence.collect import hostile as collect_hostile
from tests.evidence.collect import load as collect_load
from tests.evidence.collect import loop as collect_loop
from tests.evidence.record import Result, Size

TOPICS: dict[str, Callable[[Size], Result]] = {
    "parity": parity.run,
    "sampler": sampler.run,
    "masking": masking.run,
    "coverage": coverage.run,
    "exact_coverage": exact_coverage.run,
    "sums": sums.run,
    "top_limits": top_limits.run,
    "weights": weights.run,
    "replicated_survey": replicated_survey.run,
    "regression_coverage": regression_coverage.run,
    "risk_weights": risk_weights.run,
    "sampled_tests": sampled_tests.run,
    "complex_samples": complex_samples.run,
    "round_changes": round_changes.run,
    "release_attack": release_attack.run,
    "homogeneity_level": homogeneity_level.run,
    "homogeneity_power": homogeneity_power.run,
    "bootstrap_coverage": bootstrap_coverage.run,
    "independence_size": independence_size.run,
    "independence_power": independence_power.run,
    "release_blocks": release_blocks.run,
    "independence_default": independence_default.run,
    "cramers_v": cramers_v.run,
    "compliance": compliance.run,
    "sampled_compliance": sampled_compliance.run,
    "forged_files": forged_files.run,
    "spark_failures": spark_failures.run,
    "collect_loop": collect_loop.run,
    "collect_faults": collect_faults.run,
    "collect_hostile": collect_hostile.run,
}

# Held to figures that only a machine which does nothing else can reach: `python -m tests.evidence collect_load`.
SPEED: dict[str, Callable[[Size], Result]] = {"collect_load": collect_load.run}
