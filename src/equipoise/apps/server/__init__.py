"""The server: an API and a page over one open library (extra `serve`)."""
