#!/bin/sh
# Chromium and a Chinese font for the tests of the pages, from Debian's packages, where there is none yet.
set -eu
if command -v chromium >/dev/null 2>&1; then
    exit 0
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk >/dev/null
