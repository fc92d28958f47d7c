"""Question answering over documents that cannot be pushed."""
