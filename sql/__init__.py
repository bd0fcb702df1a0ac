"""The bottom layer: warehouse handle, state store, parts, models and their runner. Imports no other package of the house."""
