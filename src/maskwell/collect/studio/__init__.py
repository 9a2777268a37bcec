"""The studio: pages for the team."""
