"""One module per migration, named by its number. What is released is never edited."""
