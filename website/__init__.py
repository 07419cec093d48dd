"""Write the dashboard pages that need no server to files: `python -m dprl web --out DIR`.

Each file is complete: it opens from disk, can be sent alone, and requests nothing from elsewhere. This package imports
pages/, so it must run in the folder that contains pages/.
"""
