"""The page: static files that `apps.server` serves as they are."""
