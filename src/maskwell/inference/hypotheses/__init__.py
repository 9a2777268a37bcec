"""Tests of hypotheses: of fit, of independence, and of groups that do not differ."""
