"""The formats of no domain: records, messages, ShareGPT; JSON files; what a path holds."""
