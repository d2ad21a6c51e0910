"""The README's example runs as it stands there, in a folder of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_the_example(tmp_path):
    """In a process of its own: what other tests have imported must not help it."""
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len([line for line in example.splitlines() if line.strip()]) <= 10
    (tmp_path / "example.py").write_text(example)
    as_users_run_it = os.environ | {"JAX_DISABLE_MOST_OPTIMIZATIONS": "0", "XLA_FLAGS": ""}
    command = [sys.executable, "example.py"]
    done = subprocess.run(command, cwd=tmp_path, env=as_users_run_it, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (loss,) = re.findall(r"best validation loss ([\d.e-]+)", done.stdout)
    assert float(loss) < 0.1  # the targets' variance is 0.28
    assert (tmp_path / "flow.png").stat().st_size > 10_000


def test_every_link_leads_somewhere():
    docs = README.parent / "docs"
    rooms = [face.parent.name for face in README.parent.glob("gnode/**/__init__.pyi")]
    made = {docs / "reference" / f"{name}.md" for name in ("index", "commands", *rooms)}  # when the site is built
    made_here = docs / "reference", docs / "_build"
    written = [page for page in docs.glob("**/*.md") if not any(page.is_relative_to(place) for place in made_here)]
    for page in [README, *written, *README.parent.glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            place = Path(os.path.normpath(page.parent / target))
            assert place.exists() or place in made, f"{page.name} links to {target}"
