"""What ``maskwell release`` does and says."""
