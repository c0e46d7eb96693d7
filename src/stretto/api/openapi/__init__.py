"""The API described by itself: OpenAPI 3.1, made from the routes and the records that they read and return.

schemas    records -> JSON Schema, as bodies and answers have them
document   routes -> the document
page.html  a page that shows it, without anything from elsewhere
"""
