"""Readers of file formats, one per module."""
