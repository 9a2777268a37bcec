"""Pictures of what is planned: frontiers, precision and power."""
