"""The files of Python that are written: numpy, jax and PyTorch share their words and their shape."""

import dataclasses
import json

import numpy as np

from gnode.export._dialects import JAX, NUMPY, TORCH, Dialect
from gnode.export._functions import Functions
from gnode.export._graph import in_order
from gnode.export._text import Writer

WEIGHTS = "weights.npz"


@dataclasses.dataclass(frozen=True)
class Words:
    """What the head of a file says: the network, the method, what is left out, and the command that made the file."""

    title: str
    sizes: str
    method: str
    notes: tuple[str, ...]
    made_by: str


def file_of(target: str, words: Words, functions: Functions, dtype: str) -> tuple[str, dict[str, np.ndarray]]:
    """Returns the text of a file, and the arrays that it reads: those of the network, and long lists of places."""
    arrays = dict(functions.arrays)
    text = _OF_TARGET[target](words, functions, dtype, arrays)
    return text, arrays


def _bodies(dialect: Dialect, functions: Functions, arrays: dict[str, np.ndarray], indent: str) -> dict[str, str]:
    """The lines of the three functions, and the helpers that they use."""
    found: dict[str, str] = {}
    helpers: dict[str, None] = {}
    for name in ("initial", "step", "readout"):
        writer = Writer(dialect, arrays, "x" if name == "initial" else "h", indent)
        found[name] = "\n".join(writer.body(functions.graph(name)))
        helpers |= dict.fromkeys(text for op, text in dialect.helpers.items() if op in writer.used)
    return found | {"helpers": "".join(f"\n\n{text}" for text in helpers)}


def _head(words: Words, imports: str, usage: str) -> str:
    about = [words.title, "", f"{words.sizes}; {words.method}.", *words.notes, words.made_by]
    lines = "\n".join(about)
    return f'"""{lines}\n\n{usage}"""\n\n{imports}\n'


def _usage(functions: Functions, prefix: str) -> str:
    """How the functions are called, beneath each other."""
    vectors = ", ".join(one for one in functions.inputs["step"] if one != "dt")
    beside = {"before": ", and of the bin before it", "after": ", and of the next bin"}
    more = "".join(beside.get(one, "") for one in functions.inputs["step"])
    lines = {
        f"states, outputs = {'network' if prefix else 'rollout'}(xs)": "of every bin; xs: (..., time, inputs)",
        f"h = {prefix}initial(x)": "before the first bin; x: (..., inputs), its input",
        f"h = {prefix}step({vectors})": f"at the end of a bin; x: its input{more}",
        f"y = {prefix}readout({', '.join(functions.inputs['readout'])})": "the output",
    }
    width = max(map(len, lines))
    told = [f"    {call:<{width}}  # {words}" for call, words in lines.items()]
    told = ["    network = Network()", *told] if prefix else told
    if not functions.has_fixed_dt:
        told += ["", "dt is one number, or one for each bin; a bin of length 0 leaves the state as it is (padding)."]
    return "\n".join([*told, ""])


def _numpy(words: Words, functions: Functions, dtype: str, arrays: dict[str, np.ndarray]) -> str:
    bodies = _bodies(NUMPY, functions, arrays, "    ")
    imports = ["from pathlib import Path", "", "import numpy as np"]
    if "math.erf" in bodies["helpers"]:
        imports = ["import math", *imports]
    return _plain(words, functions, dtype, bodies, "np", "\n".join(imports), _LOOP)


def _jax(words: Words, functions: Functions, dtype: str, arrays: dict[str, np.ndarray]) -> str:
    bodies = _bodies(JAX, functions, arrays, "    ")
    imports = "from pathlib import Path\n\nimport jax\nimport jax.numpy as jnp\nimport numpy as np"
    if dtype == "float64":
        imports += '\n\njax.config.update("jax_enable_x64", True)'
    return _plain(words, functions, dtype, bodies, "jnp", imports, _SCAN)


_LOOP = """\
    states = []
    for now in zip(*along):
        h = step(h, *now, W=W)
        states.append(h)
    states = np.stack(states, -2)
"""
_SCAN = """\

    def bin(h, now):
        h = step(h, *now, W=W)
        return h, h

    states = jnp.moveaxis(jax.lax.scan(bin, h, along)[1], 0, -2)
"""


def _plain(
    words: Words, functions: Functions, dtype: str, bodies: dict[str, str], np: str, imports: str, loop: str
) -> str:
    """A file of functions, by numpy or jax."""
    inputs = functions.inputs
    has_dt = "dt" in inputs["step"]
    vectors = ", ".join(one for one in inputs["step"] if one != "dt")
    arrays = ", ".join(f"{np}.asarray({one}, DTYPE)" for one in vectors.split(", "))
    dt = ", dt=DT" if has_dt else ""
    begin = f"    {vectors} = {arrays}\n"
    if has_dt:
        begin += f"    dt = {np}.broadcast_to({np}.asarray(dt, DTYPE), h.shape[:-1])\n"
    reads = ", ".join(inputs["readout"])
    values = (
        "{name: jnp.asarray(value) for name, value in np.load(PLACE).items()}"
        if np == "jnp"
        else "dict(np.load(PLACE))"
    )
    path = [f"    xs = {np}.asarray(xs, DTYPE)"]
    path += [f"    dt = {np}.broadcast_to({np}.asarray(dt, DTYPE), xs.shape[:-1])"] if has_dt else []
    path += _neighbours(functions, np)
    along = ", ".join(f"{np}.moveaxis({name}, {axis}, 0)" for name, axis in _along(functions, "xs") if name)
    return (
        _head(words, imports, _usage(functions, ""))
        + f'\nPLACE = Path(__file__).with_name("{WEIGHTS}")\nW = {values}\n'
        + f"DT, DTYPE = {functions.dt!r}, np.{dtype}\n"
        + bodies["helpers"]
        + f"\n\ndef initial(x, W=W):\n    x = {np}.asarray(x, DTYPE)\n{bodies['initial']}\n"
        + f"\n\ndef step({vectors}{dt}, W=W):\n{begin}{bodies['step']}\n"
        + f"\n\ndef readout({reads}, W=W):\n{bodies['readout']}\n"
        + f"\n\ndef rollout(xs, h0=None{dt}, W=W):\n"
        + "\n".join(path)
        + "\n    h = initial(xs[..., 0, :], W) if h0 is None else h0\n"
        + f"    h = {np}.broadcast_to({np}.asarray(h, DTYPE), xs.shape[:-2] + ({functions.step.shape[0]},))\n"
        + f"    along = ({along}{'' if ', ' + np in along else ','})\n"
        + loop
        + f"    return states, readout({'states, xs' if len(inputs['readout']) > 1 else 'states'}, W=W)\n"
    )


def _along(functions: Functions, xs: str) -> list[tuple[str, int]]:
    """What a loop over bins goes along, in the order of the arguments of a step, and the axis of time."""
    names = {"x": (xs, -2), "dt": ("dt", -1), "before": ("before", -2), "after": ("after", -2)}
    order = [one for one in functions.inputs["step"] if one not in ("h", "dt")]
    return [names[one] for one in (*order, *(["dt"] if "dt" in functions.inputs["step"] else []))]


def _neighbours(functions: Functions, np: str, indent: str = "    ") -> list[str]:
    """The samples beside those of each bin; a bin of length 0 is padding, before which the input stays as it is."""
    lines: list[str] = []
    has_dt = "dt" in functions.inputs["step"]
    if "before" in functions.inputs["step"]:
        lines = [f"before = {np}.concatenate([xs[..., :1, :], xs[..., :-1, :]], -2)"]
        lines += [f"before = {np}.where(dt[..., None] > 0, before, xs)"] if has_dt else []
    if "after" in functions.inputs["step"]:
        lines = [f"after = {np}.concatenate([xs[..., 1:, :], xs[..., -1:, :]], -2)"]
        if has_dt:
            lines += [f"is_followed = (dt > 0) & ({np}.concatenate([dt[..., 1:], dt[..., -1:]], -1) > 0)"]
            lines += [f"after = {np}.where(is_followed[..., None], after, xs)"]
    return [indent + line for line in lines]


def _torch(words: Words, functions: Functions, dtype: str, arrays: dict[str, np.ndarray]) -> str:
    bodies = _bodies(TORCH, functions, arrays, "        ")
    inputs = functions.inputs
    has_dt = "dt" in inputs["step"]
    vectors = ", ".join(one for one in inputs["step"] if one != "dt")
    dt = ", dt=DT" if has_dt else ""
    expanded = "torch.as_tensor(dt, dtype={0}.dtype, device={0}.device).expand({0}.shape[:-1])"
    trained = json.dumps(sorted(functions.trained))
    along = ", ".join(f"{name}.unbind({axis})" for name, axis in _along(functions, "xs"))
    lines = [f"        dt = {expanded.format('xs')}"] if has_dt else []
    lines += _neighbours(functions, "torch", "        ")
    imports = "import json\nfrom pathlib import Path\n\nimport numpy as np\nimport torch"
    uses_weights = {
        name: "        W = self.weights()\n"
        if any(node.op == "constant" for node in in_order(functions.graph(name)))
        else ""
        for name in ("initial", "step", "readout")
    }
    begin = f"        dt = {expanded.format('h')}\n" if has_dt else ""
    return (
        _head(words, imports.removeprefix("import json\n"), _usage(functions, "network."))
        + f'\nPLACE = Path(__file__).with_name("{WEIGHTS}")\nDT = {functions.dt!r}\n'
        + _wrapped("TRAINED", trained)
        + "\n\nclass Network(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        + "        self.names = {}\n        for name, value in np.load(PLACE).items():\n"
        + '            self.names[name] = name.replace(".", "__")\n'
        + "            value = torch.from_numpy(value)\n            if name in TRAINED:\n"
        + "                self.register_parameter(self.names[name], torch.nn.Parameter(value))\n            else:\n"
        + "                self.register_buffer(self.names[name], value)\n"
        + "\n    def weights(self):\n        return {name: getattr(self, own) for name, own in self.names.items()}\n"
        + f"\n    def initial(self, x):\n{uses_weights['initial']}{bodies['initial']}\n"
        + f"\n    def step(self, {vectors}{dt}):\n{uses_weights['step']}{begin}{bodies['step']}\n"
        + f"\n    def readout(self, {', '.join(inputs['readout'])}):\n{uses_weights['readout']}{bodies['readout']}\n"
        + f"\n    def forward(self, xs, h0=None{dt}):\n"
        + "".join(f"{line}\n" for line in lines)
        + "        h = self.initial(xs[..., 0, :]) if h0 is None else h0\n"
        + f"        h = h.expand(xs.shape[:-2] + ({functions.step.shape[0]},))\n        states = []\n"
        + f"        for now in zip({along}):\n            h = self.step(h, *now)\n            states.append(h)\n"
        + "        states = torch.stack(states, -2)\n"
        + f"        return states, self.readout({'states, xs' if len(inputs['readout']) > 1 else 'states'})\n"
    )


def _wrapped(name: str, text: str) -> str:
    """A list of names, on several lines where it is long."""
    if len(text) < 100:
        return f"{name} = {text}\n"
    lines, line = [], ""
    for one in text[1:-1].split(", "):
        if len(line) + len(one) > 100:
            lines.append(line.rstrip())
            line = ""
        line += f"{one}, "
    return "\n    ".join([f"{name} = [", *lines, line.rstrip()]) + "\n]\n"


_OF_TARGET = {"numpy": _numpy, "jax": _jax, "torch": _torch}
