"""JAXtari's games in envcore."""
