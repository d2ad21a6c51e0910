"""One short declarative file per published result, and the demo."""
