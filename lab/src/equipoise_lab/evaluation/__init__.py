"""One resumable run of samples x systems x scorers, and the records it leaves."""
