"""`python -m stretto` is `stretto`."""

from stretto.cli.main import main

main()
