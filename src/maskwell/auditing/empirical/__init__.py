"""An audit that trusts nothing but draws: of a design, or of a sampler that somebody else wrote."""
