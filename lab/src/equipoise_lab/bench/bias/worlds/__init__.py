"""What a filter of one-sided passages must be seen beside: worlds in which it could flatter itself, and rows that each
leave out one of its ingredients."""
