"""A film keeps the weights of chosen epochs, and reads them back."""

import equinox as eqx
import numpy as np
import pytest

import gnode
from gnode import interrupts, tasks
from gnode.errors import GnodeError, StoreError
from gnode.train import Film
from gnode.train.film import FOLDER, frame_name, read_film

TASK = tasks.flip_flop("square", trials=8, validation=4, bins=5)


def net():
    return gnode.build("rnn", 2, 2, state=2, key=0)


class Watching(gnode.train.Callback):
    def __init__(self):
        self.seen = {}

    def after_epoch(self, moment):
        self.seen[moment.epoch] = moment.network()


def test_frames_are_the_networks_of_their_epochs(tmp_path):
    watching = Watching()
    gnode.fit(net(), TASK, epochs=4, out=tmp_path, callbacks=[watching, Film([4, 0, 2, 9])])
    frames = read_film(tmp_path, net())
    assert list(frames) == [0, 2, 4]
    assert eqx.tree_equal(frames[0], net())
    for epoch in (2, 4):
        assert eqx.tree_equal(frames[epoch], watching.seen[epoch])


def test_the_epochs_that_are_kept_by_default():
    assert [epoch for epoch in range(1001) if Film().keeps(epoch)] == [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    assert repr(Film()) == "Film()"


def test_an_interrupted_run_goes_on_filming(tmp_path):
    class Stop(gnode.train.Callback):
        def after_epoch(self, moment):
            if moment.epoch == 2:
                raise KeyboardInterrupt

    with pytest.raises(interrupts.Interrupted):
        gnode.fit(net(), TASK, epochs=4, out=tmp_path, callbacks=[Film([0, 1, 3]), Stop()])
    gnode.resume(tmp_path, callbacks=[Film([0, 1, 3])])
    assert sorted(path.name for path in (tmp_path / FOLDER).iterdir()) == [frame_name(k) for k in (0, 1, 3)]


@pytest.mark.parametrize("epochs", [[], [-1], [1.5], "3", 3])
def test_bad_epochs(epochs):
    with pytest.raises(GnodeError, match="epochs"):
        Film(epochs)


def test_a_film_needs_a_folder_and_whole_files(tmp_path):
    with pytest.raises(GnodeError, match="a film is kept in the folder of its run"):
        gnode.fit(net(), TASK, epochs=1, callbacks=[Film()])
    with pytest.raises(StoreError, match="has no film"):
        read_film(tmp_path, net())
    (tmp_path / FOLDER).mkdir()
    np.savez(tmp_path / FOLDER / frame_name(1), W=np.zeros(3))
    with pytest.raises(StoreError, match="lacks the array"):
        read_film(tmp_path, net())
    (tmp_path / FOLDER / frame_name(1)).write_bytes(b"no archive")
    with pytest.raises(StoreError, match=frame_name(1)):
        read_film(tmp_path, net())
