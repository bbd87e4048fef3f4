"""Runs a model's program over a staged copy of the person's folders.

Knows neither Qt nor the app: it meets the app through the protocols in `ports.py`.
"""
