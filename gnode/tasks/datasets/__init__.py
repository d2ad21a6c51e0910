"""The paper's three real-world tasks (Appendix H), from files in the cache."""
