"""Pure string functions: sentences, tokens, alignment of quotations, canonical spans, the support check."""
