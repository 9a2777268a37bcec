"""Plans of groups that are asked by different designs."""
