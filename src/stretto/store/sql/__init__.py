"""What all databases share: tables, documents, and every transaction of the ports.

    statement, database   the words in which a database is spoken to, and what it must bring along
    codec                 records <-> JSON text
    rows                  records <-> columns
    groups, commits, ...  the concerns of `ports.store`, one file each; `store` joins them
    migrations            the tables, and how they came to be

A database is added with a `Dialect` and a `Database`. Its folder holds nothing but what is its own: how it
locks, how it writes many rows at once, how its connections are kept, and what its errors mean.
"""
