"""From text to tree and back: lexer, grammar, tree, printer, and the names a script refers to."""
