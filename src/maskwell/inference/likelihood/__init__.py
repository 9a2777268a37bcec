"""Maximum likelihood: the proportions under which the reports are most probable, with a certificate."""
