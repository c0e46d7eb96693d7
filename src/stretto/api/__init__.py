"""HTTP: Maestro's `/api/v3`, health, and the server around them.

    server       sockets, the HTTP protocol with its timeouts, a graceful stop
    door         what every request passes first: who may come in, its id, its time
    making       the application: routes, errors, compression
    v1           the surface of the task engine
    routes       one file for each resource; a route reads a request, calls an action, and returns its answer

Promise: no rule of the product is here. A route calls one of `actions`; what it raises becomes a status and
a body in `errors`, and nowhere else.
"""
