"""Commands that serve other tools: `serve-user` and `mcp`."""
