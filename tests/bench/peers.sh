#!/bin/sh
# xformc beside its peers: sets up their environment in build/peers-venv, once, and runs peers/peers.py in it.
# usage: peers.sh XFORMC [ARGUMENT of peers.py]...      PEERS_PYTHON: the Python that the environment is made with
set -eu
here=$(dirname "$0")
xformc=$1
shift
venv=build/peers-venv
wanted=$here/peers/requirements.txt
if ! cmp -s "$wanted" "$venv/installed.txt"; then
    echo "peers: setting up $venv; llama.cpp is compiled, which takes 10 to 20 minutes" >&2
    [ -x "$venv/bin/python" ] || "${PEERS_PYTHON:-python3}" -m venv "$venv"
    # All that this processor has; no programs, no pictures.
    export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
    export CMAKE_ARGS="${CMAKE_ARGS:--DGGML_NATIVE=ON -DLLAVA_BUILD=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TESTS=OFF}"
    nice "$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$wanted"
    cp "$wanted" "$venv/installed.txt"
fi
exec "$venv/bin/python" "$here/peers/peers.py" --xformc "$xformc" "$@"
