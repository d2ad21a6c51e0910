"""A task and a network that train in a moment."""

from gnode import build, tasks


def small_task(**options):
    return tasks.flip_flop("square", **{"trials": 24, "validation": 10, "bins": 12, "key": 0} | options)


def small_net(model="gnode", **options):
    widths = {"widths": (8,)} if model in ("gnode", "node") else {}
    return build(model, 2, 2, **{"state": 3, "tau": 0.01, "initial": "affine", "key": 1} | widths | options)
