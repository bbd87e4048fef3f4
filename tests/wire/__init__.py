"""Loopback servers that speak providers' real wire formats, for tests; see `server.py`."""
