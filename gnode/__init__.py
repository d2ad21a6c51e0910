"""Train continuous-time recurrent networks and see what they have learned."""

__version__ = "0.1.0"
