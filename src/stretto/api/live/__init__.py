"""Live events: one reader of the change log for all followers of a process."""
