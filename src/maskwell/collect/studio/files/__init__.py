"""A microdata file in the studio: its risk, and a release with its two reports. Nothing of it is kept."""
