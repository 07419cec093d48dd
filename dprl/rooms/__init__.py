"""A class's room: the steps for the class, the coin that randomises answers, and the estimates from the reports.

Rooms themselves are in the store (`dprl.runs.rooms`).
"""
