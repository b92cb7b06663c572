"""The script that Streamlit runs, anew after each click."""

from duologue.labelling.page import page

page()
