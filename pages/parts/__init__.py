"""Streamlit parts shared by the pages."""
