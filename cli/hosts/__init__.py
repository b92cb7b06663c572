"""The command that serves other tools: `serve-user`."""
