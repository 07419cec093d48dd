"""A class's room: the steps for the class, the coin that answers pass through, and the estimates from the reports.

Rooms themselves are kept in the store (`dprl.runs.rooms`).
"""
