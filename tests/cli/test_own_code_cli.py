"""A user's own code on the command line."""

from pathlib import Path

import pytest
from own_code_files import MINE

SMALL = "--state 3 --epochs 2 --batch-size 3 --trials 6 --validation 4"


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE)
    return tmp_path


def test_train_extend_analyse(gnode_command, mine):
    said = gnode_command(f"train mine.py:integrate --model mine.py:LowRank --set rank=2 --set scale=0.5 {SMALL}").ok()
    assert "runs/integrate-LowRank-3" in said
    assert "trust" in gnode_command("train --resume runs/integrate-LowRank-3 --epochs 4").one_sentence()
    assert "finished 4 epochs" in gnode_command("train --resume runs/integrate-LowRank-3 --epochs 4 --trust").ok()
    assert "trust" in gnode_command("analyse runs/integrate-LowRank-3").one_sentence()
    assert "Report" in gnode_command("analyse runs/integrate-LowRank-3 --trust --starts 20").ok()


def test_a_film_is_kept(gnode_command, mine):
    gnode_command(f"train mine.py:integrate --model rnn --film 0,2 --out run {SMALL}").ok()
    assert sorted(file.name for file in Path("run/film").iterdir()) == ["000000.npz", "000002.npz"]


def test_sweep_with_own_code(gnode_command, mine):
    said = gnode_command(f"sweep run mine.py:integrate --model mine.py:LowRank,rnn --set rank=1,2 {SMALL}").ok()
    assert "3 members" in said
    assert "LowRank" in said
    assert "3 of 3 members done" in gnode_command("sweep status runs/integrate-sweep").ok()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("train mine.py:integrate --set rank", "NAME=VALUE"),
        ("train mine.py:integrate --set =3", "NAME=VALUE"),
        ("train mine.py:integrate --model mine.py:LowRank --set rank=two", "rank is 'two'"),
        ("train mine.py:integrate --model mine.py:LowRank --set colour=2", "colour"),
        ("train mine.py:integrate --trust", "--trust is for code in a folder"),
        ("train flipflop-square --resume run --lr 1", "give it alone, or with more --epochs"),
        ("train --resume nowhere --epochs 5", "not a folder"),
        ("train flipflop-square --film ten", "film is 'ten'"),
        ("train flipflop-square --film -1", "epochs is -1"),
        ("train --resume nowhere --epochs five", "epochs is 'five'"),
        ("sweep run mine.py:nothing", "has no 'nothing'"),
        ("sweep run none.py:task", "no file 'none.py'"),
        ("train mine.py:integrate --loss mine.py:nothing --epochs 1", "has no 'nothing'"),
    ],
)
def test_bad_input_is_one_sentence(gnode_command, mine, words, said):
    assert said in gnode_command(words).one_sentence()
