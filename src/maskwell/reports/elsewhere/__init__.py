"""Reports that come from elsewhere: as labels, or as positions that devices sent."""
