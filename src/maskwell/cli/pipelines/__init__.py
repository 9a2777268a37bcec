"""Whole pipelines on the command line: folders of files in, folders of reports and tallies out."""
