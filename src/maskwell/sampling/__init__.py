"""From exact integers and random words to reports: the only place where chance enters."""
