#!/bin/sh
# Compare xformc with its peers: set up their environment in build/peers-venv once, then run
# peers/peers.py in it.
# usage: peers.sh XFORMC [ARGUMENT of peers.py]...
# PEERS_PYTHON: the Python that makes the environment
set -eu
here=$(dirname "$0")
xformc=$1
shift
venv=build/peers-venv
wanted=$here/peers/requirements.txt
if ! cmp -s "$wanted" "$venv/installed.txt"; then
    echo "peers: setting up $venv; llama.cpp is compiled, which takes 10 to 20 minutes" >&2
    [ -x "$venv/bin/python" ] || "${PEERS_PYTHON:-python3}" -m venv "$venv"
    # Use everything this processor has; build no programs and no image support.
    export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
    export CMAKE_ARGS="${CMAKE_ARGS:--DGGML_NATIVE=ON -DLLAVA_BUILD=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TESTS=OFF}"
    nice "$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$wanted"
    cp "$wanted" "$venv/installed.txt"
fi
exec "$venv/bin/python" "$here/peers/peers.py" --xformc "$xformc" "$@"
