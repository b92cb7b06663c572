"""The messages of a request to a role, with their attachments, and common functions of prompt selectors."""
