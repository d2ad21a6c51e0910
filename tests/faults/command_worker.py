"""A process that runs `gnode` command lines one after another, as the shell would, and answers how each ended.

Commands come as lines of JSON on its standard input. For each it says that it begins, and then exit status and words: what
has been imported and compiled for one serves the next, so that a thousand commands cost minutes and not hours.
"""

import contextlib
import io
import json
import os
import signal
import sys
import time
import traceback


def run(words, go, late):
    """Runs a command as the entry point does, once the file `go` is there. Only the end of the process is left out."""
    from gnode.cli import main

    while go and not os.path.exists(go):
        pass
    time.sleep(late)
    sys.argv = ["gnode", *words]
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the command before has left it ignored
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
            status = "main returned"
        except SystemExit as end:
            status = end.code or 0
        except BaseException:
            traceback.print_exc()
            status = "traceback"
    return {"status": status, "out": out.getvalue(), "err": err.getvalue()}


def end(status):
    raise SystemExit(status)


def serve():
    answers = os.fdopen(os.dup(1), "w")  # what a library prints does not mix with them
    os.dup2(2, 1)
    os._exit = end  # only the process of a real command ends so
    from gnode.devices import one_core_per_network
    from gnode.plots import _style

    one_core_per_network()  # as a sweep would, for all: the process has one backend for all its commands
    _style.STYLE |= {"savefig.dpi": 40, "pdf.fonttype": 3, "pdf.compression": 0}
    for line in sys.stdin:
        answers.write("begins\n")
        answers.flush()
        answers.write(json.dumps(run(**json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
