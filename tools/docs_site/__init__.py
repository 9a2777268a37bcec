"""What makes the documentation site: pages that are run, pictures, and references made from the program itself."""
