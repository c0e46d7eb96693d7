"""The command line: it parses arguments, calls the packages below and prints. No rule lives here."""
