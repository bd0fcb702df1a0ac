"""The bottom layer: warehouse handle, state store, parts, models and their runner; imports nothing above it."""
