"""The server of the page: Streamlit, for requests whose Host is this machine's name only."""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

# Streamlit's own `server.allowedHosts` is asked only about the socket, not about its files.
HOSTS = ["127.0.0.1", "localhost"]
app = st.App(Path(__file__).with_name("app.py"), middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS)])
