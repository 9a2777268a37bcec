"""Commands around a survey: forms and cards, reports from elsewhere, compliance, and files for others."""
