"""What surfaces show: workflows, runs, steps, and why they wait. Nothing here writes."""
