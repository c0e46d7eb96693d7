"""From tree to closures: what happens when an expression is evaluated."""
