"""The frozen sampling format as inputs and outputs; ``docs/sampling_format.md`` has the rules."""
