"""The paper's three real-world tasks (Appendix H), read from files in the cache."""
