"""Text -> JSON value, strict and bounded: no duplicate keys, no aliases that explode, no endless nesting."""
