"""The service over HTTP: its routes, how it answers and refuses, and what holds for every request."""
