"""A store in Postgres with pgvector (extra `postgres`)."""
