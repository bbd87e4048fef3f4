"""Where shell commands run: a microVM of this machine, bubblewrap, or a host of the person's."""
