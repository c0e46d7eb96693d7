"""What is allowed and almost surely not meant, one concern per file. A doubt never keeps a text from being
published, so each of them is silent wherever what is written may have its reason.
"""
