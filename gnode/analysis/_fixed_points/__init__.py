"""The search for fixed points: Newton steps from many starts, labelled and merged results."""
