"""The attack of the EBI paper, to measure defences with: one-sided passages."""
