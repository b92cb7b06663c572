"""The page on which people label conversations: a Streamlit app (extra `ui`) in a process of its own."""
