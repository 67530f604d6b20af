#!/bin/sh
# Make the virtual environment with the first interpreter that is new enough and can.
# Usage: make-venv.sh DIRECTORY [INTERPRETER]
set -eu

target=$1
wanted=${2:-python3}

# A candidate is run, not only looked for: a version manager's shim can be on the PATH for a version
# that is not installed.
new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
can_venv() { "$1" -c 'import ensurepip, venv' >/dev/null 2>&1; }

found_without_venv=
for candidate in "$wanted" python3 python3.13 python3.12 python3.11 python3.14; do
    new_enough "$candidate" || continue
    if can_venv "$candidate"; then
        exec "$candidate" -m venv "$target"
    fi
    found_without_venv=${found_without_venv:-$candidate}
done

if [ -n "$found_without_venv" ]; then
    echo "signoff: $found_without_venv lacks the standard modules venv and ensurepip." >&2
    echo "On Debian and Ubuntu: apt-get install python3-venv" >&2
else
    seen=$("$wanted" --version 2>&1) || seen="$wanted does not run"
    echo "signoff needs Python 3.11 or newer; here: $seen." >&2
    echo "Name another one with: make PYTHON=/path/to/python3.11 …" >&2
fi
exit 1
