"""Uploaded data sets: their declaration, how they are read and stored, and learning from them."""
