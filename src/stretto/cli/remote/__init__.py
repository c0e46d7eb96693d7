"""What commands do with a server.

server      which server, and how it is talked to
reading     what `show`, `runs` and `why` read from it
watching    a run that was started there: to its end, with or without words
"""
