"""What goes on in a class's room: what is put to it, the coin that answers pass through, and what the reports say.

Rooms themselves are kept in the store (`dprl.runs.rooms`).
"""
