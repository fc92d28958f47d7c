"""What an index holds, and what one question can force: `scan` and `certify`."""
