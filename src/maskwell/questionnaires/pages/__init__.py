"""Cards, spinners and packs of cards as pages to print."""
