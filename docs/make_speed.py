"""Makes docs/speed.md from benchmarks/results/*.json, which `make bench` writes: no number on it is typed by hand."""

import json
from pathlib import Path

ROOT = Path(__file__).parent.parent


SPECIAL = {"wider": ", wider ones", "side-by-side": ", several side by side"}
"""What sets tables with the same title apart, by a part of their file's name."""


def cell(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else "" if value is None else str(value)


def made_by(path: Path) -> str:
    """The command that wrote a file of results."""
    name = path.stem.rsplit("-", 1)[0]
    return "gnode bench" if name.startswith("gradient") else f"python benchmarks/{name}.py"


def shapes_asked_for(rows: list[dict]) -> str:
    """The arguments of `gnode bench` that made these rows."""
    shapes = " ".join(f'"{shape}"' for shape in dict.fromkeys(row["shape"] for row in rows))
    return shapes + ("" if any(row["gradient by"].startswith("diffrax") for row in rows) else " --skip diffrax")


def section(path: Path) -> str:
    stored = json.loads(path.read_text())
    rows = stored["rows"]
    in_part = path.stem.startswith("gradient") and not path.stem.endswith("cpu")
    command = made_by(path) + (f" {shapes_asked_for(rows)}" if in_part else "")
    title = stored["title"] + next((more for part, more in SPECIAL.items() if part in path.stem), "")
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    lines += ["| " + " | ".join(cell(value) for value in row.values()) + " |" for row in rows]
    where = ", ".join(dict.fromkeys(stored["devices"]))
    versions = stored["versions"]
    return (
        f"## {title}, on {where}\n\n`{command}` "
        f"(jax {versions['jax']}, diffrax {versions['diffrax']}, commit {stored['commit'] or 'of a copy without git'})\n\n"
        + "\n".join(lines)
    )


HEAD = """# Speed

Each table was measured in one run, its rivals in turn; read the ratios, not the milliseconds. In the tables of one
gradient a ratio above 1 is how many times slower than gnode a rival is; PyTorch's rows are of one network, also where
gnode's are of 27. Training with and without the fused kernel, and
the whole grid of the flip-flop task: [results/kernel.md](results/kernel.md).

## What stayed

- **A derivative by hand for the gated family** (`gnode.solve.gated_euler`): the loop over bins carries the state's change
  only, and every weight's gradient is one product over bins and trials. Any platform, all modes of differentiation.
- **A fused kernel on a GPU** (`gnode.solve.fused`, Pallas): one program takes a network and a tile of trials through all
  bins, weights on the chip. Layers up to 128 units; wider ones, or `kernel="loop"`, take the derivative by hand. Training
  uses it by itself on a GPU that runs it; `products="bfloat16"` is coarser. The error is in a table below: errors grow
  along a trajectory, so long ones of networks that expand have the largest.
- **A streamed kernel on a GPU** (`gnode.solve.streamed`, Pallas; `kernel="streamed"`): the weights are read block by block
  in every bin, so that layers may have any width, and GRU, LSTM and LEM go through it too. One of the chip's
  processors takes 64 trials of a network, so it pays where networks side by side fill the chip: in the table of several
  side by side below it beats the loop for 27 networks and loses to it for 5 and 9, alone on the GPU. It is for large
  groups, or for several processes that share a GPU, and is never chosen by itself. It trained Walker2D's networks with
  N = 100 and 316 and the reduced tables of speech and letters on the [results page](results/reproduce.md#table1).
- **A CPU's cores**: a sweep trains a member on each. One network splits a batch's trials over `cores`, an explicit and
  recorded choice (`gnode train --cores 2`), because sums are then made in another order; it pays from some fifty trials on.
- **What the halves of a step share is computed once**: LEM's forward-backward Euler takes its gates from the old state for
  both halves (`Cell.fields_of_blocks`).
- **Checkpointed memory** for long sequences (`memory="checkpoint"`).

## What was tried and did not stay

- Tiles of trials x units in the kernel, with the weights as the right factor: slower than units x trials.
- Eight warps for a tile of sixteen trials: slower than four, which wait less for each other.
- Products in three TF32 parts: their weights do not fit on the chip.
- The input's share of the first layer for all bins in one product before the kernel: writing and reading it costs more than
  a few more columns in the first product.
- Halves of a batch as two loops of one program on a CPU: they run one after another. Two devices do not.
- All bins of a long trajectory at once (`benchmarks/parallel_in_time.py`, table below): exact, in a few rounds, but on
  a CPU each round costs more than the loop for more than two units. Not yet measured on a GPU.
- On a CPU, the derivative by hand for wide layers with many trials: the plain loop's products fill the cores already.
- A generic batch gradient for GRU, LSTM and LEM: more processor time than the plain loop at a hundred trials.

The kernels are written for Pallas' Triton backend, which newer versions of JAX call deprecated. Where it is gone, or does
not run, training says so and takes the loop, unless a kernel was asked for by name; without a GPU the loop always takes
their place. They ran on an H200 only; on older GPUs none is chosen."""


def main() -> None:
    pages = [section(path) for path in sorted((ROOT / "benchmarks" / "results").glob("*.json"))]
    (ROOT / "docs" / "speed.md").write_text("\n\n".join([HEAD, *pages]) + "\n")


if __name__ == "__main__":
    main()
