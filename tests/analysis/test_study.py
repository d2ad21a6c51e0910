"""From a network to its report: words, numbers and pictures, also where there is nothing to find."""

import json
import re

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
import systems

from gnode import errors, files
from gnode.analysis import attractor, fixed_points, flow_field, steady_spectrum, study, system, trial_error
from gnode.plots import analysis as draw
from gnode.report import _write, sections, write_page


@pytest.fixture(scope="module")
def integrator():
    net = systems.integrator_network()
    xs = np.zeros((12, 40, 2), np.float32)
    generator = np.random.default_rng(0)
    for trial in xs:
        for onset in (3, 15, 27):
            trial[onset : onset + 2, generator.integers(2)] = generator.uniform(-1, 1)
    states = np.asarray(net.run(jnp.asarray(xs), dt=0.01).states)
    return net, xs, states, study(net, states, dt=0.01, inputs=xs, starts=300)


def test_findings_of_an_integrator(integrator):
    net, xs, _, found = integrator
    assert np.all(found.fixed_points.status == "equilibrium")
    assert found.attractor.dimension == 2
    assert found.attractor.is_continuous_attractor
    np.testing.assert_allclose(found.driven.exponents, 0, atol=1e-6)
    # an integrator's output is the sum of its pulses' areas, half a unit per bin
    expected = np.cumsum(xs, axis=1) / 2
    assert trial_error(net, xs, expected, dt=0.01, span=(0, 1)).mean_square == pytest.approx(0, abs=1e-9)


def test_report_is_one_file_with_its_figures_inside(integrator, tmp_path):
    _, _, states, found = integrator
    figures = {
        "flow": draw.flow_field(found.field, found.fixed_points, trajectories=states[:3], pulse=states[0, :20]),
        "eigenvalues": draw.eigenvalues(found.fixed_points.stability),
        "attractor": draw.attractor(found.attractor),
        "variance": draw.explained_variance({"integrator": found.components}),
        "components": draw.principal_components(states, found.fixed_points),
    }
    write_page(tmp_path / "report.html", "Inside <it>", "words", sections(found, figures))
    text = (tmp_path / "report.html").read_text()
    assert text.count("data:image/png;base64,") == 5
    assert not re.search(r'(src|href)="(?!data:)', text)
    assert "Inside &lt;it&gt;" in text
    assert "it is a continuous attractor" in text


def test_json_is_strict(integrator, tmp_path):
    found = integrator[-1]
    files.write_json(tmp_path / "a.json", _write._in_words(found.summary()))
    stored = json.loads((tmp_path / "a.json").read_text())
    assert stored["slow_set"]["dimension"] == 2
    assert stored["slow_set"]["memory"]["median_lifetime_s"] == "infinite"
    assert stored["fixed_points"]["points"] == len(found.fixed_points)


def test_where_nothing_is_found_the_report_says_so(tmp_path):
    net = systems.integrator_network()
    net = eqx.tree_at(lambda n: n.cell.F.b, net, (jnp.ones(2),))  # everything drifts away for ever
    states = np.random.default_rng(0).normal(size=(30, 2))
    found = study(net, states, dt=0.01)
    assert len(found.fixed_points) == 0
    assert found.attractor is None
    figures = {"flow": draw.flow_field(found.field, found.fixed_points)}
    write_page(tmp_path / "r.html", "t", "i", sections(found, figures))
    text = (tmp_path / "r.html").read_text()
    assert text.count("None found") == 3
    assert "none found" in text


def test_strips_say_none_found_for_an_empty_network():
    found = fixed_points(systems.limit_cycle, [[1.0, 0.0]], dt=0.01)
    figure = draw.abscissa_strips({"cycle": found.stability, "empty": found.stability[:0]})
    assert "none found" in [text.get_text() for text in figure.axes[0].texts]


def test_flow_figure_states_what_leaves_the_plane():
    def constant(h, x):
        return jnp.asarray([1.0, 0.0, 1.0]) + 0 * h

    field = flow_field(constant, state=3, limits=((0, 1), (0, 1)), resolution=4)
    title = draw.flow_field(field).axes[0].get_title(loc="left")
    assert title.startswith("50%")


def test_smoke_one_output_attractor_figure():
    line = np.stack([np.linspace(-1, 1, 60), np.zeros(60)], axis=1)
    measured = attractor(systems.linear(np.diag([0.0, -1.0]), [0.0, 0.0]), line, dt=0.1, horizon=1)
    assert len(draw.attractor(measured).axes) == 4


def test_unknown_figure_is_an_error(integrator):
    with pytest.raises(errors.ArgumentError, match="Did you mean 'flow'"):
        sections(integrator[-1], {"flo": draw.flow_field(integrator[-1].field)})


def test_reprs_are_short(integrator):
    """No repr prints an array: at most ten lines and 500 characters."""
    net, _, states, found = integrator
    measured, exponents = found.attractor, found.driven
    objects = [
        *(found, found.fixed_points, found.fixed_points.stability, found.fixed_points.settings, found.components),
        *(found.field, found.field.plane, exponents, system(net, dt=0.01)),
        *(measured, measured.geometry, measured.shape, measured.memory, measured.gating, *measured.definition),
        *(steady_spectrum("mgru", 30, sigma_w=0.5, duration=50.0), fixed_points(net, states)[:0]),
    ]
    assert measured.gating is not None
    for thing in objects:
        text = repr(thing)
        assert text.startswith(f"{type(thing).__name__}(")
        assert len(text) <= 500, text
        assert text.count("\n") < 10, text
        assert "array" not in text
    assert str(found.fixed_points) in repr(found.fixed_points)
