"""What a release did: the file before and after it, ways of forming blocks side by side, what may be said in public."""
