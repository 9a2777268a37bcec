"""People who do not follow the design: how many they are, and what follows where nothing tells how many."""
