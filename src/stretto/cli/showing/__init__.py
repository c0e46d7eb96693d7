"""What `stretto show` prints: a run, or a step of one."""
