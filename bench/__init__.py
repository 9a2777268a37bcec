"""Speed and memory beside a peer and beside the physical limit, as ratios within one run."""
