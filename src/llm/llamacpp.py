"""The embedded server's process: loads a model, says where it listens and lives until its input is closed.

Run by :mod:`src.llm.local` as a script. A process of its own, because the library holds the interpreter's lock while
it loads (seconds) and can wait for ever in its destructor when a request is under way.
"""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    """Serve; the only argument is a JSON object of model, n_ctx, threads and verbosity."""
    options = json.loads(sys.argv[1])
    parent = os.dup(1)
    os.dup2(2, 1)  # whatever the library prints is not the address
    # Threads that wait for one another spin a little, then sleep. Spinning on, as by default, is 15 % faster on an idle
    # machine; where another process wants a core, an answer then takes minutes instead of seconds (measured, 2 cores).
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # read when the library is loaded
    from xllamacpp import CommonParams, Server

    params = CommonParams()
    params.model.path = options["model"]
    params.n_ctx = options["n_ctx"]
    # One slot, which goes on from what it read only where a request says so: an answer depends on its request alone,
    # not on its neighbours (see `Reading` in local.py). A model with a sliding window keeps all of it, so that it can
    # be cut back by a token; one whose memory cannot be cut back reads the prompt again, never from a checkpoint.
    params.n_parallel = 1
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.n_ctx_checkpoints = 0
    params.swa_full = True
    params.cpuparams.n_threads = options["threads"]
    params.cpuparams_batch.n_threads = options["threads"]
    params.verbosity = options["verbosity"]
    params.port = 0
    params.ui = False
    params.endpoint_slots = False
    # No web page may read answers; without Origin header, as from our client, it makes no difference.
    params.cors_origins = "http://127.0.0.1"
    try:
        server = Server(params)
    except RuntimeError as error:
        sys.exit(str(error))
    try:
        os.write(parent, f"{server.listening_address}\n".encode())  # fails if the run was killed meanwhile
        sys.stdin.read()
    finally:
        os._exit(0)  # without the destructor


if __name__ == "__main__":
    main()
