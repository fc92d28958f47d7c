"""Fine-tuning of highlighters (extra `hf`; the loss plot needs `bench`)."""
