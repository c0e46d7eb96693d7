"""The shell around the core: owns flow groups, decides, commits, and only then acts.

machine    `Node`: everything that a node decides about itself, without I/O: answers in, asks out
performer  carries out asks: the store, runtimes, evaluation
driver     a thin asyncio loop that joins the two; the simulator has another
"""
