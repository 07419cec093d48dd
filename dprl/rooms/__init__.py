"""Steps for a class, the coin that randomises answers, and estimates from them. `dprl.runs.rooms` stores the rooms."""
