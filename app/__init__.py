"""Drydock, the app: the engine, its store, the window and the command line."""
