#!/bin/sh
# Makes sure that the browser tests find a Chromium: DPRL_CHROMIUM, one on the PATH, Debian's package, or else
# Playwright's own download. Usage: install.sh PYTHON
python=$1
works() { "$1" --version >/dev/null 2>&1; }

if [ -n "${DPRL_CHROMIUM:-}" ]; then
    works "$DPRL_CHROMIUM" && exit 0
    echo "DPRL_CHROMIUM=$DPRL_CHROMIUM is not a browser that starts." >&2
    exit 1
fi
works chromium && exit 0
works google-chrome && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Debian's chromium for the browser tests."
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium >/dev/null
    works chromium && exit 0
fi
echo "Getting Playwright's Chromium for the browser tests."
"$python" -m playwright install chromium && exit 0
echo "No browser for the tests: install Chromium, or say where one is with DPRL_CHROMIUM=/path/to/chromium." >&2
exit 1
