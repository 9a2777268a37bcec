"""What papers state and does not hold, each with the reason that gives back what is printed."""
