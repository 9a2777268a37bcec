"""Commands around surveys: before it, on reports from elsewhere, and for whoever analyses them."""
