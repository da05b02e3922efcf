"""Errors of tf.keras in words: what was given, what is wanted, and what helps, where the library says less."""

__all__ = []
