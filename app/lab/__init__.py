"""The lab: task suites run on the real engine, to learn what a model can do on this machine."""
