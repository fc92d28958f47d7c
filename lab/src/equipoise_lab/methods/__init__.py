"""The papers' own methods: highlighters and filters that the product is compared with."""
