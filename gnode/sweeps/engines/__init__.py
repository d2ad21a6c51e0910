"""Engines: ways to train the members of a sweep. `base.Engine` is the protocol, `registry` the list."""
