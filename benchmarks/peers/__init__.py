"""The same work by others, in the same run: `python -m benchmarks.peers [PEER...]`.

Each peer has a folder: its pinned requirements, `work.py`, which does W1 to W6 as far as the peer can, and
`hello.py`, the shortest program. Both run in an environment of their own under `.bench/`.
"""
