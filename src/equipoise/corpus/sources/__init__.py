"""Where documents live that are no files: sites."""
