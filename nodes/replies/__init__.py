"""From the replies of chat models, agents and functions to drafts."""
