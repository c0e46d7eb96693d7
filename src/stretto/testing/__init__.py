"""For tests, ours and users': a clock that is moved by hand, faults on demand, and suites for the ports."""
