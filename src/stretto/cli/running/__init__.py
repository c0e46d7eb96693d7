"""`stretto run`, in parts.

wanted         what the user asks for: definitions, parameters
beginning      a new run, or the one to go on with
progress       a run as it is shown: steps, loops, what is waited for
functions      steps and handlers that are written in Python
following      the change log and rows of a run, read as they come
screen, log, machine     the three ways to show it
session        all of it, from the first commit to the last; interrupts
"""
