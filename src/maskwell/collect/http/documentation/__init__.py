"""The documentation of the API: a page made from its description by the service itself, with nothing from elsewhere."""
