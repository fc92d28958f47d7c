"""Attacks on a deployment (H&S, section 8): for your own systems."""
