"""A store in Qdrant (extra `qdrant`)."""
