"""A user's own code on the command line."""

from pathlib import Path

import pytest
from own_code_files import MINE

import gnode

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


def test_a_classification_of_one_s_own(gnode_command, mine):
    said = gnode_command(f"train mine.py:side --classes left:right --when last --fresh update --out run {SMALL}").ok()
    assert "confusion.png" in said
    assert gnode.load("run", trust=True).task.classes == ("left", "right")
    assert "finished 3 epochs" in gnode_command("train --resume run --epochs 3 --trust").ok()
    said = gnode_command(f"train mine.py:side --out other {SMALL}").one_sentence()
    assert "outputs is missing: pass the number of classes that the function can return, or their names" in said


def test_metrics_of_one_s_own_beside_others(gnode_command, mine):
    gnode_command(f"train mine.py:integrate --model rnn --metrics mine.py:largest:r2 --out run {SMALL}").ok()
    assert Path("run/metrics.csv").read_text().startswith("epoch,train,validation,gradient,largest,r2")


def test_the_former_name_of_spans(gnode_command, mine):
    for number, words in enumerate(("--schedule=4@1+8@1", "--schedule 4@1+8@1", "--spans 4@1+8@1")):
        small = SMALL.replace("--epochs 2", "")
        gnode_command(f"train mine.py:integrate --model rnn {words} --out run{number} {small}").ok()
    assert len({Path(f"run{number}/metrics.csv").read_text() for number in range(3)}) == 1


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
        ("train mine.py:side --when never --outputs 2", "when is 'never'"),
        ("train mine.py:side --classes left", "a label is 1, but classes must be from 0 to 0"),
        ("train mine.py:integrate --metrics mine.py:cubic", "metric cubic fails"),
        ("train mine.py:integrate --loss mine.py:largest", "loss largest fails"),
        ("train mine.py:integrate --optimiser adm", "One of your own is named FILE.py:NAME"),
        ("train --resume nowhere --epochs five", "epochs is 'five'"),
        ("sweep run mine.py:nothing", "has no 'nothing'"),
        ("sweep run none.py:task", "no file 'none.py'"),
        ("train mine.py:integrate --loss mine.py:nothing --epochs 1", "has no 'nothing'"),
    ],
)
def test_bad_input_is_one_sentence(gnode_command, mine, words, said):
    assert said in gnode_command(words).one_sentence()
