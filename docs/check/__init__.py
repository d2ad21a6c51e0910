"""What `docs/check_site.py` looks for in the built site, a module each."""
