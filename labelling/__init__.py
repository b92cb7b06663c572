"""The page on which people label conversations: a Streamlit app (extra `ui`), which `duologue label` serves."""

SETTINGS, TOKEN = "DUOLOGUE_LABEL_SETTINGS", "DUOLOGUE_LABEL_TOKEN"
"""Variables by which the command hands the page its settings, and the token without which it shows nothing."""
