"""Results: how one shows itself, as text, as a table, as HTML and as a picture."""
