"""What the owner of a survey sees: counts and estimates as they come in, audits, two questions together, the end."""
