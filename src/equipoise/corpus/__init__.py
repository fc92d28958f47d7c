"""Documents: loading files, cutting them into passages, and the store that keeps them."""
