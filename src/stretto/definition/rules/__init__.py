"""The rules a definition must obey, one concern per file. Each looks at the whole and reports all."""
