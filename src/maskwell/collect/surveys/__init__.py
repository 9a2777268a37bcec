"""Surveys: the document, the submissions that fit it, what is counted of them, estimated and exported."""
