"""The README's example runs as it stands there, in a folder of its own."""

import re
import runpy
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_the_example(tmp_path, monkeypatch, capsys):
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len([line for line in example.splitlines() if line.strip()]) <= 10
    (tmp_path / "example.py").write_text(example)
    monkeypatch.chdir(tmp_path)
    found = runpy.run_path("example.py")
    assert found["run"].best_loss < 0.1  # the targets' variance is 0.28
    assert (tmp_path / "flow.png").stat().st_size > 10_000
    assert "best validation loss" in capsys.readouterr().out


def test_every_link_leads_somewhere():
    for page in [README, *README.parent.glob("docs/**/*.md"), *README.parent.glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
