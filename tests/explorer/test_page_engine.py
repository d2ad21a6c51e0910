"""The page computes what Python computes: fields, Jacobians, steps and fixed points, run by node."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from interpreter import OPERATIONS, evaluate
from page_engine import as_array, computed
from variants import DT, STATES, VARIANTS, drawn, reference

from gnode.analysis import fixed_points, system
from gnode.cells import CELLS
from gnode.explorer._document import Subject, network_document
from gnode.explorer._functions import exported
from gnode.network import Network
from gnode.precision import double, to_dtype

TOLERANCE = 1e-11


def document_of(nets):
    networks = [network_document(Subject(net, f"network {k}", DT, net.solver)) for k, net in enumerate(nets)]
    return {"format": 1, "title": "", "verdict": None, "networks": networks}


def test_every_cell_at_a_hundred_states(tmp_path):
    nets = [drawn(*variant) for variant in VARIANTS]
    generator = np.random.default_rng(1)
    requests, expected = [], []
    for place, net in enumerate(nets):
        programs = exported(net, net.solver)
        hs, xs = generator.normal(size=(STATES, net.cell.state_size)), generator.normal(size=(STATES, 2))
        with double():
            values = reference(to_dtype(net, jnp.float64), "gate" in programs.programs)(
                jnp.asarray(hs), jnp.asarray(xs)
            )
        given = {"network": place, "states": hs.tolist(), "x": xs.tolist(), "dt": DT}
        for name in {"field", "jacobian", "step", "readout", "gate"} & values.keys():
            expected.append((VARIANTS[place], name, values[name]))
            requests.append({"what": name, **given})
        many = [evaluate(programs.programs["jacobian_step"], programs.arrays, h, xs[0], DT)[0] for h in hs[:5]]
        expected.append((VARIANTS[place], "mapJacobian", np.stack(many)))
        requests.append({"what": "mapJacobian", **given, "states": hs[:5].tolist(), "x": xs[0].tolist()})
        single = [evaluate(programs.programs["field"], programs.arrays, h, xs[0])[0] for h in hs]
        expected.append((VARIANTS[place], "fieldMany", np.stack(single)))
        requests.append({"what": "fieldMany", **given, "x": xs[0].tolist()})
    for (variant, what, values), got in zip(expected, computed(document_of(nets), requests, tmp_path)):
        np.testing.assert_allclose(as_array(got), values, rtol=TOLERANCE, atol=TOLERANCE, err_msg=f"{variant} {what}")


def test_the_page_knows_the_operations_of_programs_and_no_others(tmp_path):
    (found,) = computed(None, [{"what": "operations"}], tmp_path)
    assert set(found) == OPERATIONS


def many_points(name, units, gain):
    """A network with large weights, which has many fixed points."""
    cell = CELLS[name](1, units, key=4, tau=0.5)
    weights = (lambda cell: cell.W) if hasattr(cell, "W") else (lambda cell: cell.F.W[0])
    return Network(eqx.tree_at(weights, cell, gain * weights(cell)), 1, key=1)


@pytest.mark.parametrize(
    ("name", "units", "gain"), [("mgru", 5, 4.0), ("rate_rnn", 5, 3.0), ("gru", 4, 4.0), ("lstm", 2, 5.0)]
)
def test_fixed_points_are_those_of_python(tmp_path, name, units, gain):
    """Isolated ones: of a continuum, such as the GRU has one far out, both find samples of their own."""
    net, x = many_points(name, units, gain), [0.2]
    starts = np.random.default_rng(5).normal(size=(100, net.cell.state_size))
    found = fixed_points(system(net, dt=0.05, x=x), starts).select(status="equilibrium")
    isolated = found[np.flatnonzero(~found.on_continuum)]
    request = {"what": "fixedPoints", "states": starts.tolist(), "x": x, "dt": 0.05}
    (got,) = computed(document_of([net]), [request], tmp_path)
    got = sorted((point for point in got if point["kind"] != "marginal"), key=lambda point: point["h"])
    order = np.lexsort(isolated.points.T[::-1])
    assert "stable" in isolated.stability.flow_class
    np.testing.assert_allclose(as_array([point["h"] for point in got]), isolated.points[order], atol=1e-6)
    assert [point["kind"] for point in got] == isolated.stability.flow_class[order].tolist()
