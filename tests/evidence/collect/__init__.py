"""The service that collects: whole surveys over HTTP, faults, hostile requests, and load."""
