"""The demonstration: what `maskwell demo` masks, estimates, releases and writes."""
