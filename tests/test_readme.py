"""What somebody reads first: the README fits a screen, the first network of the site runs as it stands, links lead on."""

import os
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
START = README.parent / "docs" / "start.md"


def test_the_readme_is_a_picture_two_commands_and_three_links():
    text = README.read_text()
    assert len(text.splitlines()) <= 25
    assert re.findall(r"^    (\w.*?)  +#", text, re.MULTILINE) == ["make demo", "make test"]
    links = re.findall(r"(!?)\[[^\]]+\]\(([^)]+)\)", text)
    (picture,) = [target for mark, target in links if mark]
    assert (README.parent / picture).suffix == ".webp"
    deep = [target for mark, target in links if not mark]
    assert len(deep) == 3
    assert all(target.startswith("docs/") for target in deep)


def test_the_first_network_of_the_site(tmp_path):
    """In a process of its own: what other tests have imported must not help it."""
    before_the_shell = START.read_text().split("\n## The same from the shell")[0]
    blocks = re.findall(r"```python\n(.*?)```", before_the_shell, re.DOTALL)
    assert len(blocks[0].splitlines()) <= 10
    (tmp_path / "example.py").write_text("".join(blocks))
    as_users_run_it = os.environ | {"JAX_DISABLE_MOST_OPTIMIZATIONS": "0", "XLA_FLAGS": ""}
    command = [sys.executable, "example.py"]
    done = subprocess.run(command, cwd=tmp_path, env=as_users_run_it, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (loss,) = re.findall(r"best validation loss ([\d.e-]+)", done.stdout)
    assert float(loss) < 0.1  # the targets' variance is 0.28
    (kinds,) = re.findall(r"points from \d+ starts: .*?(\{[^}]*\})$", done.stdout, re.MULTILINE)
    assert "'marginal'" in kinds  # as the page says of points on a continuous attractor
    assert re.search(r"^Attractor\(.* of dimension 2, ", done.stdout, re.MULTILINE)
    assert (tmp_path / "first.html").stat().st_size > 100_000
    assert (tmp_path / "runs" / "first" / "result.json").is_file()


def test_every_link_leads_somewhere():
    docs = README.parent / "docs"
    rooms = [face.parent.name for face in README.parent.glob("gnode/**/__init__.pyi")]
    made = {docs / "reference" / f"{name}.md" for name in ("index", "commands", *rooms)}  # when the site is built
    made_here = docs / "reference", docs / "_build"
    written = [page for page in docs.glob("**/*.md") if not any(page.is_relative_to(place) for place in made_here)]
    for page in [README, *written, *README.parent.glob("*.md")]:
        prose = re.sub(
            r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE
        )  # code calls entries of lists
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", prose):
            place = Path(os.path.normpath(page.parent / target))
            assert place.exists() or place in made, f"{page.name} links to {target}"
