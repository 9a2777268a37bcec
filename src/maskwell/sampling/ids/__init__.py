"""Ids of records: the counter blocks that they give, the columns that they come from, and which came before."""
