"""The one way in for columns, frames and files: from any container to labelled codes."""
