"""The script that Streamlit runs, anew after each click."""

from duologue.labelling.app import page

page()
