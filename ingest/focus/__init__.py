"""FOCUS exports of any provider."""
