"""Invitations: each lets one person send one submission, and whoever redeems it cannot tell which submission it was."""
