"""Settings as text: what a table writes, the command line reads."""

import pytest

from gnode import errors, options
from gnode.train import spec

VALUES = {
    "widths": (316, 316),
    "gate_widths": (),
    "noise_widths": (16, 8),
    "span": (0.5, 1.0),
    "start": (2.0, 0.0),
    "input_columns": ("x", "y"),
    "target_columns": ("position",),
    "validate_on": ("s07", "s08"),
    "test_on": ("s09",),
    "classes": ("left", "right"),
    "input_names": ("evidence", "cue"),
    "output_names": ("choice",),
    "metrics": ("mine.py:error", "r2", "mae"),
    "spans": ((14, 100), (28, 200)),
}


@pytest.mark.parametrize("name", VALUES)
def test_what_is_written_is_read_again(name):
    text = spec.text_of(name, VALUES[name])
    assert isinstance(text, str)
    assert spec.read(name, text) == VALUES[name]


def test_every_setting_that_is_read_as_several_parts_is_tried_above():
    parts = (options.widths, options.numbers, options.words, options.stages, options.names_or_code)
    assert {name for name, option in spec.OPTIONS.items() if option.read in parts} <= {*VALUES, "readout_widths"}


def test_numbers_and_words_are_written_as_they_are():
    assert spec.text_of("lr", 1e-3) == 1e-3
    assert spec.text_of("model", "gru") == "gru"


def test_commas_are_widths_or_several_values():
    assert spec.read_one("widths", "3,4") == (3, 4)
    with pytest.raises(errors.ArgumentError, match="gnode sweep"):
        spec.read_one("target_columns", "y,z")
