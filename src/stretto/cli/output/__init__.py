"""What `stretto logs` shows: the output of one step, or of all steps of a run."""
