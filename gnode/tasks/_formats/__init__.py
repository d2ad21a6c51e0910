"""Files as others made them: one reader for each format."""
