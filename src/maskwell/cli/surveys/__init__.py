"""Commands around a survey: what is handed to respondents before it, and to analysts after it."""
