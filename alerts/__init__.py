"""Judgements to messages: who is told (routes), what (render), once only (outbox), how (channels)."""
