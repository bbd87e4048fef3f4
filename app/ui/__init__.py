"""The window. Widgets only: it knows the engine through `app.bridge` and its plain records."""
