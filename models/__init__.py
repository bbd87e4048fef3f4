"""Models: the catalog, fetching files, and talking to local and remote models.

Knows neither Qt, nor the app, nor the sandbox.
"""
