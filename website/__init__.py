"""The dashboard's pages that need no server, as files: `python -m dprl web --out DIR`.

Each file is whole: it opens from disk, may be sent alone, and asks for nothing from elsewhere. It stands over pages/,
whose bundled runs, words and charts it shows, and is run with the folder of pages/ as the current one.
"""
