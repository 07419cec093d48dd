"""Write the dashboard pages that need no server to files: `python -m dprl web --out DIR`.

Each file is complete: it opens from disk, can be sent alone, and requests nothing from elsewhere. This package uses the
bundled runs, texts and charts of pages/, and runs with the folder that contains pages/ as the current one.
"""
