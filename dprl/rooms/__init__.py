"""The steps for a class, the coin that randomises answers, and the estimates; `dprl.runs.rooms` stores the rooms."""
