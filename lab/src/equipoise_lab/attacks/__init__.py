"""Attacks of the papers, to measure defences with: one-sided passages, and prompts that want a tool called."""
