"""AWS exports: legacy CUR, CUR 2.0 and FOCUS, found by manifest."""
