"""The work of the studio as Python and as commands, so that it can be repeated without it."""
