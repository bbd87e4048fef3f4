"""Runs turns: the only room that talks to models, sandbox and store at once. Knows no Qt."""
