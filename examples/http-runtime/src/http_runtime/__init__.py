"""Steps of the type Http: one request, whose answer becomes the outputs of the step.

request    a request that blocks its thread, and can be ended from another
asked      what a step asks for, read from its parameters
runtime    the port of Stretto: start, execute, terminate
"""

from http_runtime.runtime import HttpRuntime

__all__ = ["HttpRuntime"]
