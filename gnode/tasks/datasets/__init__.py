"""The paper's three real-world tasks (Appendix G), from files in the cache."""
