"""The commands `gnode reproduce` and `gnode expressivity`."""

import pytest

from gnode.reproduce import NAMES


def test_list_run_collect_and_about(tmp_path, gnode_command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = gnode_command("reproduce list")
    assert said.status == 0
    assert said.out.count("never run") == len(NAMES)
    said = gnode_command("reproduce run capacity --out docs/results/reproduce")
    assert said.status == 0, said.err
    assert "holds here" in said.out
    said = gnode_command("reproduce list")
    assert said.out.count("never run") == len(NAMES) - 1
    said = gnode_command("reproduce collect")
    assert said.status == 0
    page = tmp_path / "docs/results/reproduce.md"
    assert "[capacity](reproduce/capacity.md)" in page.read_text()
    said = gnode_command("reproduce about table1")
    assert said.status == 0
    assert "Published (Table 1)" in said.out
    assert "Command: gnode reproduce run table1 --scale paper" in said.out
    # The spellings from before there were sub-commands.
    assert gnode_command("reproduce table1 --about").out == said.out
    assert gnode_command("reproduce --list").out == gnode_command("reproduce list").out
    made = page.read_text()
    page.unlink()
    assert gnode_command("reproduce --collect").status == 0
    assert page.read_text() == made


def test_all_are_made_although_one_cannot_be(tmp_path, gnode_command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GNODE_DATA", str(tmp_path / "nothing"))
    monkeypatch.setattr("gnode.reproduce.NAMES", ("table1", "capacity"))
    said = gnode_command("reproduce run all --out results")
    assert said.status == 2
    assert "table1 was not made: table1 needs data sets that are missing" in said.out
    assert "1 of 2 made in" in said.out
    assert said.err.strip().endswith("not made: table1; what is above says why.")
    assert (tmp_path / "results/capacity.json").is_file()
    monkeypatch.setattr("gnode.reproduce.NAMES", ("capacity",))
    assert "1 of 1 made" in gnode_command("reproduce run all --out results").ok()


def test_prepare_writes_the_folders_and_says_how_to_train_them(tmp_path, gnode_command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = gnode_command("reproduce prepare annulus-generalisation --out results").ok()
    folder = "results/sweeps/two-bit-annulus-smoke"
    assert f"2 networks {folder}" in told
    assert f"gnode sweep resume {folder} --part 1/4" in told
    assert (tmp_path / folder).is_dir()
    assert not list(tmp_path.rglob("weights.npz"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("reproduce run", "which artefact?"),
        ("reproduce", "which artefact?"),
        ("reproduce run fig11", "Did you mean 'fig1'?"),
        ("reproduce fig11", "Did you mean 'fig1'?"),
        ("reproduce about fig11", "Did you mean 'fig1'?"),
        ("reproduce run all --only variable-n6", "--only names sweeps of one artefact"),
        ("reproduce run all --scale full", "scale is 'full', but must be one of: smoke, reduced, paper"),
        ("reproduce run fig1 --scale full", "scale of fig1 is 'full', but must be one of: smoke, paper"),
        ("reproduce run table1", "table1 needs data sets that are missing"),
        ("reproduce collect --out nowhere", "nowhere is not a folder of results"),
        ("reproduce --collect --out nowhere", "nowhere is not a folder of results"),
        ("reproduce list --out nowhere", "nowhere is not a folder of results"),
        ("reproduce --list --out nowhere", "nowhere is not a folder of results"),
        ("reproduce prepare capacity", "nothing to prepare"),
        ("reproduce capacity --prepare", "nothing to prepare"),
        ("reproduce keep fig1", "fig1 keeps no weights"),
        ("reproduce keep walker2d-protocol --sweeps nowhere", "holds no sweep"),
        ("reproduce restore true-attractors --weights nowhere", "holds no kept weights"),
        ("reproduce restore fig11", "Did you mean 'fig1'?"),
        ("reproduce run fig1 --kernel slow", "kernel is 'slow', but must be one of: auto, loop, fused, streamed"),
        ("expressivity measure gnod", "Did you mean 'gnode'?"),
        ("expressivity measure gru --state ten", "state is 'ten'"),
        ("expressivity longest gru --error -1", "error is -1.0"),
        ("expressivity longest gru --lengths 5,3", "rising order"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(words, sentence, tmp_path, gnode_command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GNODE_DATA", str(tmp_path / "nothing"))
    said = gnode_command(words)
    assert sentence in said.one_sentence()
    assert not list(tmp_path.iterdir())


def test_expressivity_measure_and_longest(tmp_path, gnode_command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    few = "--lr 1e-2 --weight-decay 1e-3 --seeds 1 --epochs 2"
    said = gnode_command(f"expressivity measure gru --state 2,3 --tau 1,10 --bins 5 --out m {few}")
    assert said.status == 0, said.err
    assert {path.name for path in (tmp_path / "m").glob("*.png")} == {"by-state.png", "by-tau.png"}
    said = gnode_command(f"expressivity longest gru --state 2 --lengths 5 --out l {few}")
    assert said.status == 0, said.err
    assert "GRU fits trajectories of" in said.out
