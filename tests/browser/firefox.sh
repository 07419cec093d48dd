#!/bin/sh
# Makes sure that there is a Firefox to compare the engine in: one on the PATH, or Debian's package where root may
# install it. Ends with 3 where there is none and none is to be had here, which it says; with 1 where installing failed.
works() { "$1" --version >/dev/null 2>&1; }

works firefox-esr && exit 0
works firefox && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    if apt-cache show firefox-esr >/dev/null 2>&1; then
        echo "Installing Debian's firefox-esr to compare the engine in it."
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends firefox-esr >/dev/null
        works firefox-esr && exit 0
        echo "Debian's firefox-esr could not be installed." >&2
        exit 1
    fi
fi
echo "There is no Firefox, and root cannot install firefox-esr by apt-get here: the engine is not compared in it." >&2
exit 3
