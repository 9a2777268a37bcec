"""Commands on the reports of surveys: read from elsewhere, and asked whether people followed the design."""
