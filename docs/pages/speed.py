"""The speed of gnode, from `benchmarks/results/*.json`, which `make bench` writes."""

import json
from pathlib import Path

from pages import ROOT, table

PATH = "docs/speed.md"

MEASURED = ROOT / "benchmarks" / "results"

SUFFIXES = {"wider": ", wider ones", "side-by-side": ", several side by side"}
"""The ends of the titles of tables that would have the same title otherwise, by a part of their file's name."""


def cell(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else "" if value is None else str(value)


def command(path: Path, rows: list[dict]) -> str:
    """Returns the command that wrote a file of results."""
    name = path.stem.rsplit("-", 1)[0]
    if not name.startswith("gradient"):
        return f"python benchmarks/{name}.py"
    if path.stem.endswith("cpu"):
        return "gnode bench"
    shapes = " ".join(f'"{shape}"' for shape in dict.fromkeys(row["shape"] for row in rows))
    skipped = "" if any(row["gradient by"].startswith("diffrax") for row in rows) else " --skip diffrax"
    return f"gnode bench {shapes}{skipped}"


def section(path: Path) -> str:
    stored = json.loads(path.read_text())
    rows, versions = stored["rows"], stored["versions"]
    title = stored["title"] + next((suffix for part, suffix in SUFFIXES.items() if part in path.stem), "")
    where = ", ".join(dict.fromkeys(stored["devices"]))
    return (
        f"## {title}, on {where}\n\n`{command(path, rows)}` "
        f"(jax {versions['jax']}, diffrax {versions['diffrax']}, commit {stored['commit'] or 'of a copy without git'})\n\n"
        + table(list(rows[0]), [[cell(value) for value in row.values()] for row in rows])
    )


HEAD = """# Speed

Made by `make docs` from the JSON files that `make bench` writes. Each table was measured in one run, with the alternatives
in turn; read the ratios, not the milliseconds. In the tables of one gradient, a ratio above 1 says how many times slower
than gnode an alternative is; PyTorch's rows are for one network, also where gnode's are for 27, and on a CPU it has as
many threads as there are cores, so compare it with "all cores". The gradient is that of the trained arrays. Training with
and without the fused kernel, and the whole grid of the flip-flop task: [results/kernel.md](results/kernel.md).

## Optimisations

- **A gradient for training on a CPU** (`gnode/solve/_described_euler.py`), for the gated family, GRU, LSTM and LEM. Steps
  are products and pointwise functions; the forward loop keeps the values of activations where these determine the slopes,
  the backward loop carries only the cotangent of the state, and every product's weights, the input's and the bias among
  them, get their gradient by one product over bins and trials. The parts of a state are apart in the loops, because slices
  of an array are slow there. Cells of one's own take the plain loop.
- **A hand-written derivative for the gated family** (`gnode/solve/_gated_euler.py`) by the same idea, for other platforms
  and all modes of differentiation.
- **A fused kernel on a GPU** (`gnode.solve.gpu.fused`, Pallas): one program takes a network and a tile of trials through
  all bins, with the weights on the chip. Layers may have up to 128 units; wider ones, and `kernel="loop"`, use the
  hand-written derivative. Training chooses the kernel by default on a GPU that runs it; `products="bfloat16"` is less
  precise. A table below has the errors: they grow along a trajectory, and are largest for long trajectories of networks
  that expand.
- **A streamed kernel on a GPU** (`gnode.solve.gpu.streamed`, Pallas; `kernel="streamed"`): the weights are read block by
  block in every bin, so layers may have any width, and GRU, LSTM and LEM are supported too. One multiprocessor of the chip
  takes a tile of trials of a network, so it pays where several networks fill the chip. In the table of networks side by
  side below, alone on the GPU, one of its gradients takes, in times of the loop's,
  {streamed}.
  Training chooses it where networks side by side fill the chip and layers are of a width at which it was faster (`pays` in
  `solve/gpu/streamed.py`).
  It trained Walker2D's networks with N = 100 and 316 and the reduced tables of speech and letters on the [results
  page](results/reproduce/table1.md).
- **All cores of a CPU**: a sweep trains one member on each core. A single network splits the trials of a batch over
  `cores`, an explicit and recorded choice (`gnode train --cores 2`), because the sums are then taken in another order. It
  pays with many trials or wide layers: in the CPU's table of one gradient all cores are not faster than one for
  {all_cores}, and faster for all other shapes.
  In the same table PyTorch, on all cores, is faster than gnode on all cores for
  {pytorch}.
- **Values that both halves of a step share are computed once**: LEM's forward-backward Euler takes its gates from the old
  state for both halves (`Cell.fields_of_blocks`).
- **All bins of a trajectory at once** (`time="parallel"`, `gnode/solve/_at_once.py`): Newton's method on the whole sequence
  of states, each round a linear recurrence in log T products. It is for GPUs, where a loop over bins waits for its own
  launches; on a CPU, in the table below, the loop is as fast or faster. `time="auto"` chooses it on a GPU alone, for the
  gated family from 1000 bins on where few states run side by side (`_wins` in `solve/parallel.py`). How many rounds a
  trained network needs depends on how slowly its errors decay: most in the tables need few, those of the slow noise fits
  more than are allowed, and then the loop takes over, as it does for a chaotic network. In the GPU table "loop" is the loop
  in float32, which computes what Newton's method computes, and "loop by itself" what training would choose without it,
  with products rounded to TF32; there rounds were limited to 200, where 30 are allowed now.
- **Compiled programs are kept** between processes (`gnode/compilation_cache.py`), and what is slow to import is imported
  where it is needed.
- **Checkpointed memory** for long sequences (`memory="checkpoint"`).

## Tried and rejected

- Tiles of trials x units in the kernel, with the weights as the right factor: slower than units x trials.
- Eight warps for a tile of sixteen trials: slower than four, which wait less for each other.
- Products in three TF32 parts: their weights do not fit on the chip.
- The input's part of the first layer for all bins in one product before the kernel: writing and reading it costs more than
  a few more columns in the first product.
- Halves of a batch as two loops of one program on a CPU: they run one after another. On two devices they do not.
- On a CPU, either derivative for wide layers of the gated family with many trials: the plain loop's products fill the
  cores already.
- On a CPU, units x trials in place of trials x units: the products over bins and trials are faster, the loops slower.
- On a CPU, the products over bins and trials in parts that fit in the cache: the copies cost more than the cache saves.
- On a CPU, the input's part of a product, U x + b, for all bins at once before the loop: slower than a few more columns in
  the loop's product, and several times slower if the array then takes the layer's values.
- On a CPU, the gates' values kept in place of their pre-activations: putting them together costs more than computing them
  again. Two or four bins per iteration: slower than one.
- All bins at once with a trust radius, beyond which a state took its own step in place of Newton's correction: of the
  trained networks of the tables, also with other initial states, weights and lengths, none needed fewer rounds for it.

The kernels are written for Pallas' Triton backend, which newer versions of JAX call deprecated; `solve/gpu/backend.py` alone
knows it, and takes others. If it is missing or does not run, training says so and uses the loop, and a kernel that is
requested by name is refused in a sentence (a run that began with it goes on by the loop). Without a GPU the loop is always
used instead. The kernels were run on an H200 only; on older GPUs none is chosen."""


def times_gnode(file: str, way: str) -> dict[str, float]:
    """Returns how many times as long as gnode's default a way to a gradient takes, by shape."""
    rows = json.loads((MEASURED / f"{file}.json").read_text())["rows"]
    return {row["shape"]: row["times gnode"] for row in rows if row["gradient by"] == way}


def where_cores_do_not_pay() -> str:
    """Names the shapes for which all cores are not faster than one."""
    return ", ".join(shape for shape, times in times_gnode("gradient-cpu", "gnode, all cores").items() if times >= 1)


def where_pytorch_is_faster() -> str:
    """Names the shapes for which PyTorch is faster than gnode with all cores."""
    cores = times_gnode("gradient-cpu", "gnode, all cores")
    rows = json.loads((MEASURED / "gradient-cpu.json").read_text())["rows"]
    theirs = {row["shape"]: row["times gnode"] for row in rows if row["gradient by"].startswith("PyTorch")}
    return ", ".join(shape for shape, times in theirs.items() if times < cores[shape]) or "none of the shapes"


def streamed_beside_loop() -> str:
    """Says how long the streamed kernel takes, by the networks that are side by side."""
    found = times_gnode("gradient-side-by-side-gpu", "gnode, streamed kernel")
    return ", ".join(f"{times:.2g} for {shape}" for shape, times in found.items())


def page() -> str:
    head = HEAD.format(
        all_cores=where_cores_do_not_pay(), pytorch=where_pytorch_is_faster(), streamed=streamed_beside_loop()
    )
    return "\n\n".join([head, *(section(path) for path in sorted(MEASURED.glob("*.json")))]) + "\n"
