"""The kinds of design, one file each: a channel, a codec, a sampler and a stored form."""
