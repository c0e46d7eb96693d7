"""The methods, fields and constructors that scripts can call, one file per class."""
