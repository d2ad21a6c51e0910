"""The walk in docs/design.md is the way that `gnode train flipflop-square` goes: each file once, in that order."""

import re
import sys
from pathlib import Path

from gnode.cli import main

PACKAGE = Path(__file__).parent.parent / "gnode"
WALK = re.findall(
    r"^\d+\. `([\w/.]+)`:", (PACKAGE.parent / "docs" / "design.md").read_text().split("## A walk")[1], re.M
)


def test_the_walk(gnode_command, tmp_path):
    def train(bins):
        small = f"--state 2 --widths 8 --trials 24 --bins {bins} --epochs 2 --batch-size 8"
        return gnode_command(f"train flipflop-square {small} --out", tmp_path / str(bins)).ok()

    train(12)  # imports everything
    entered = []

    def follow(frame, event, argument):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(PACKAGE)):
            name = str(Path(path).relative_to(PACKAGE))
            if name in WALK and name not in entered:
                entered.append(name)

    sys.setprofile(follow)
    try:
        train(13)  # another shape, so that it is traced again
    finally:
        sys.setprofile(None)
    assert len(set(WALK)) == len(WALK) == 20
    assert entered == WALK
    assert main.__module__ == "gnode.cli"
