"""Intruders with what each of them has, tried on a released file, and the columns that would help them most."""
