#!/bin/sh
# See that there is a Chromium for the browser tests; on Debian, as root, install one.
# The `chromium` fixture of tests/conftest.py looks in the same places, in the same order.
set -eu

if [ -n "${SIGNOFF_CHROMIUM:-}" ]; then
    command -v "$SIGNOFF_CHROMIUM" >/dev/null && exit 0
    echo "signoff: SIGNOFF_CHROMIUM names '$SIGNOFF_CHROMIUM', which cannot be run." >&2
    exit 1
fi

for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then exit 0; fi
done

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    exec apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core
fi

echo "signoff: the browser tests need Chromium, and there is none on the PATH." >&2
echo "Install it (Debian: apt-get install chromium), or name one: SIGNOFF_CHROMIUM=/path/to/chrome" >&2
exit 1
