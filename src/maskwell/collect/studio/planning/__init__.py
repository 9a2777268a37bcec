"""Planning a question in the studio: what is asked for, and everything that moves while one drags."""
