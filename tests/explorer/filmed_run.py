"""A small run that kept a film, trained once for all tests that ask for it."""

import gnode
from gnode import tasks
from gnode.train import Film

SIZES = {"trials": 10, "validation": 5, "bins": 12}
_trained = []


def filmed_run(tmp_path_factory):
    """A run in a folder whose name would be markup."""
    if not _trained:
        net = gnode.build("gnode", 2, 2, state=2, widths=(4,), tau=0.01, key=0)
        task = tasks.make("flipflop-square", **SIZES)
        folder = tmp_path_factory.mktemp("runs") / "a<b>&amp;"
        _trained.append(gnode.fit(net, task, epochs=3, batch_size=5, out=folder, callbacks=[Film([0, 1, 3])]))
    return _trained[0]
