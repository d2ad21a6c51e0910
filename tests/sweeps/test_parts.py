"""One sweep, several processes: the parts cover it, do not overlap, and make the same table."""

import errno
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from gnode import Sweep, resume_sweep, sweep
from gnode.errors import ArgumentError, StoreError
from gnode.sweeps import Grid, Part, _lock
from gnode.sweeps._lock import sweep_locked
from gnode.sweeps._search import Search

TASK = "flipflop-square"
SMALL = {"trials": 20, "bins": 10, "epochs": 3, "state": 2}
AXES = {"model": ["rnn", "mgru"], "lr": [1e-3, 1e-2], "seed": [0, 1, 2]}


def grid(**more):
    return Grid.over(TASK, **AXES | more, **SMALL)


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 12, 40])
def test_parts_cover_the_grid_and_do_not_overlap(parts):
    found = [Part(number, parts).members(grid(), []) for number in range(1, parts + 1)]
    assert sorted(index for part in found for index in part) == list(range(12))
    assert max(map(len, found)) <= -(-12 // parts)


def test_parts_have_equal_work_and_few_shapes():
    """With batches of 5 and of 20 a part with small batches has fewer members; no part has all shapes."""
    both = grid(batch_size=[5, 20])
    members = both.members
    found = [Part(number, 5).members(both, []) for number in range(1, 6)]
    updates = [sum(1 / members[index]["batch_size"] for index in part) for part in found]
    assert max(updates) <= 1.5 * min(updates)
    shapes = [len({(members[i]["model"], members[i]["batch_size"]) for i in part}) for part in found]
    assert max(shapes) <= 3


def test_the_number_of_trials_counts():
    """Two small members and two with a hundred times the trials: one of the large ones is half of all the work."""
    uneven = Grid.over(TASK, model="rnn", trials=[20, 2000], seed=[0, 1], bins=10, epochs=3, state=2)
    assert sorted(len(Part(number, 2).members(uneven, [])) for number in (1, 2)) == [1, 3]


def test_a_search_keeps_its_choices_whole():
    members = grid().members
    choices = Search(members, ("lr",)).choices
    for number in (1, 2):
        mine = Part(number, 2).members(grid(), choices)
        assert all(mine.issuperset(choice) or mine.isdisjoint(choice) for choice in choices)
        assert {members[index]["model"] for index in mine} == {["rnn", "mgru"][number - 1]}


@pytest.mark.parametrize("search", [(), ("lr",)])
def test_parts_one_after_another_make_the_table_of_the_whole(tmp_path, search):
    whole = sweep(TASK, tmp_path / "whole", search=search, **AXES, **SMALL)
    prepared = sweep(TASK, tmp_path / "parts", search=search, prepare=True, **AXES, **SMALL)
    assert prepared.done() == []
    resume_sweep(prepared.folder, part=Part(2, 2))
    assert 0 < len(prepared.done()) < whole.number()
    resume_sweep(prepared.folder, part=Part(1, 2))
    assert (prepared.folder / "results.csv").read_text() == (whole.folder / "results.csv").read_text()
    assert prepared.todo() == []


def test_parts_at_the_same_time(tmp_path):
    """Two processes on one folder, by the command line."""
    folder = sweep(TASK, tmp_path / "parts", prepare=True, **AXES, **SMALL).folder
    command = [sys.executable, "-m", "gnode", "sweep", "--resume", str(folder), "--part"]
    both = [
        subprocess.Popen([*command, f"{n}/2"], stdout=subprocess.PIPE, text=True, env=os.environ | {"COLUMNS": "200"})
        for n in (1, 2)
    ]
    said = [process.communicate(timeout=300)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert any("12 of 12 members done" in text for text in said)
    assert len(Sweep(folder).rows()) == 12
    assert (folder / "results.csv").read_text().count("\n") == 13


def test_locks(tmp_path, monkeypatch):
    pytest.importorskip("fcntl")
    monkeypatch.setattr(_lock, "PATIENCE", 0.1)
    folder = sweep(TASK, tmp_path / "parts", prepare=True, **AXES, **SMALL).folder
    with sweep_locked(folder, Part(1, 2)):
        with sweep_locked(folder, Part(2, 2)):
            pass
        with pytest.raises(StoreError, match=rf"part 1 of .* is in use by process {os.getpid()}"):
            resume_sweep(folder, part=Part(1, 2))
        with pytest.raises(StoreError, match="processes that train parts of it, 2 in all"):
            resume_sweep(folder)
        with pytest.raises(StoreError, match="2 in all; divide it in the same way"):  # thirds would overlap with halves
            resume_sweep(folder, part=Part(3, 3))
    with sweep_locked(folder), pytest.raises(StoreError, match="in use by process"):
        resume_sweep(folder, part=Part(1, 2))
    with sweep_locked(folder, Part(3, 3)):  # when all halves have ended
        pass
    with sweep_locked(folder):
        assert [path.name for path in folder.glob(".lock*")] == [".lock"]


def test_many_parts_may_begin_at_the_same_moment(tmp_path):
    pytest.importorskip("fcntl")
    (tmp_path / "sweep").mkdir()
    together = threading.Barrier(12)

    def hold(number):
        together.wait()
        with sweep_locked(tmp_path / "sweep", Part(number, 12)):
            together.wait(timeout=20)  # all of them hold theirs
        return number

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(hold, range(1, 13))) == list(range(1, 13))


def test_a_file_system_without_locks_is_used_with_a_warning(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def refuse(*_):
        raise OSError(errno.ENOSYS, "no locks here")

    monkeypatch.setattr(fcntl, "flock", refuse)
    went_on = False
    with pytest.warns(UserWarning, match="cannot be locked") as said, sweep_locked(tmp_path):
        went_on = True
    assert went_on, "the folder was not used"
    assert len(said) == 1


def test_on_the_command_line(gnode_command, tmp_path):
    folder = tmp_path / "grid"
    axes = "--model rnn --lr 1e-3,1e-2 --weight-decay 1e-3,1e-2 --seed 0,1 --state 2 --trials 20 --bins 10 --epochs 2"
    made = gnode_command(f"sweep run {TASK} {axes} --search lr,weight-decay --prepare --out", folder)
    assert "0 of 5 members done" in made.ok()
    assert Sweep(folder).search.over == ("lr", "weight_decay")
    assert "has no members" in gnode_command("sweep resume", folder, "--part", "1/3").ok()
    assert "5 of 5 members done" in gnode_command("sweep resume", folder, "--part", "2/3", "--no-progress").ok()
    for wrong in ("--prepare", "--dry-run", "--lr 1e-3"):
        assert f"has no option {wrong.split()[0]}" in gnode_command(f"sweep resume {folder} {wrong}").one_sentence()
    assert "has no option --part" in gnode_command(f"sweep run {TASK} --part 1/2").one_sentence()


@pytest.mark.parametrize("text", ["3", "a/b", "0/4", "5/4", "1/0", "1/2/3", ""])
def test_bad_input(text):
    with pytest.raises(ArgumentError, match="part"):
        Part.read(text)
