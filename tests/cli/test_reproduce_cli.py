"""gnode reproduce and gnode expressivity as a person meets them."""

import pytest

from gnode.cli import main


def run(words, capsys, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "")  # set for a process of its own; not for the rest of this one
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    return ended.value.code, capsys.readouterr()


def test_list_collect_and_about(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, said = run("reproduce --list", capsys, monkeypatch)
    assert code == 0
    assert said.out.count("never run") == 24
    code, said = run("reproduce capacity --out docs/results/reproduce", capsys, monkeypatch)
    assert code == 0, said.err
    assert "holds here" in said.out
    code, said = run("reproduce --list", capsys, monkeypatch)
    assert said.out.count("never run") == 23
    code, said = run("reproduce --collect", capsys, monkeypatch)
    assert code == 0
    assert "## capacity" in (tmp_path / "docs/results/reproduce.md").read_text()
    code, said = run("reproduce table1 --about", capsys, monkeypatch)
    assert code == 0
    assert "Published (Table 1)" in said.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("reproduce", "which artefact?"),
        ("reproduce fig11", "Did you mean 'fig1'?"),
        ("reproduce fig1 --scale full", "scale is 'full', but must be one of: smoke, reduced, paper"),
        ("reproduce table1", "table1 needs data that are not there"),
        ("reproduce --collect --out nowhere", "nowhere is not a folder of results"),
        ("reproduce --list --out nowhere", "nowhere is not a folder of results"),
        ("reproduce capacity --prepare", "nothing to prepare"),
        ("reproduce fig1 --kernel slow", "kernel is 'slow', but must be one of: auto, loop, fused, streamed"),
        ("expressivity measure gnod", "Did you mean 'gnode'?"),
        ("expressivity measure gru --state ten", "state is 'ten'"),
        ("expressivity longest gru --error -1", "error is -1.0"),
        ("expressivity longest gru --lengths 5,3", "rising order"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(words, sentence, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GNODE_DATA", str(tmp_path / "nothing"))
    code, said = run(words, capsys, monkeypatch)
    assert code == 2
    assert sentence in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_expressivity_measure_and_longest(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    few = "--lr 1e-2 --weight-decay 1e-3 --seeds 1 --epochs 2"
    code, said = run(f"expressivity measure gru --state 2,3 --tau 1,10 --bins 5 --out m {few}", capsys, monkeypatch)
    assert code == 0, said.err
    assert {path.name for path in (tmp_path / "m").glob("*.png")} == {"by-state.png", "by-tau.png"}
    code, said = run(f"expressivity longest gru --state 2 --lengths 5 --out l {few}", capsys, monkeypatch)
    assert code == 0, said.err
    assert "GRU fits trajectories of" in said.out
