"""Pages: every report as one web page that needs no network."""
