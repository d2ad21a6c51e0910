"""Trained networks that are kept with a result, so that its analysis can be made again without training.

`keep_weights` packs each sweep of an artefact into one file: the description of the sweep, how every member ended, and the
weights of those members that the artefact looks into. `restore_weights` makes sweeps of these files again: `gnode reproduce
run` finds them trained, and gives the same numbers.
"""

import json
import re
from pathlib import Path

import numpy as np

from gnode import errors, files
from gnode.os_errors import as_path
from gnode.reproduce.artefact import Trained
from gnode.reproduce.request import Request
from gnode.sweeps import Sweep
from gnode.sweeps.stored import MEMBERS, SPEC
from gnode.train import run_folder
from gnode.training_code import RECORD

FOLDER = Path("docs/results/reproduce/weights")
"""The folder of the repository that has a folder of kept weights for each artefact."""
TEXTS = "texts"
NAME = re.compile(rf"({SPEC}|{RECORD}|{MEMBERS}/\d+/({run_folder.RESULT}|{run_folder.CONFIG}))".replace(".", r"\."))
"""The names of text files that kept weights may hold."""


def keep_weights(request: Request, sweeps: str | Path, weights: str | Path = FOLDER) -> list[Path]:
    """Packs the trained sweeps of an artefact into files.

    **Arguments:** `request`; `sweeps`, the folder of trained sweeps; `weights`, where the artefact's folder is made.

    **Returns:** the files, one for each sweep.

    **Raises:** `ArgumentError` if the artefact keeps no weights; `StoreError` if a sweep is not trained to the end.
    """
    keeps = request.artefact.keeps
    if keeps is None:
        raise errors.ArgumentError(f"{request.name} keeps no weights; train its networks with `gnode reproduce run`.")
    found = {
        plan.name: Sweep(as_path("sweeps", sweeps) / f"{plan.name}-{request.folder_suffix}") for plan in request.plans
    }
    for sweep in found.values():
        if sweep.todo():
            raise errors.StoreError(
                f"{sweep.folder} is not trained to the end; gnode sweep resume {sweep.folder} does it."
            )
    chosen = keeps(Trained(request.scale, found))
    folder = as_path("weights", weights) / request.name
    with files.writing(folder):
        made = []
        for name, sweep in found.items():
            made.append(folder / f"{sweep.folder.name}.npz")
            files.write_arrays(made[-1], _packed(sweep, chosen.get(name, [])), compressed=True)
    return made


def restore_weights(name: str, sweeps: str | Path, weights: str | Path = FOLDER) -> list[Sweep]:
    """Makes trained sweeps of the files that `keep_weights` wrote.

    **Arguments:** `name` of the artefact; `sweeps`, the folder that the sweeps are made in; `weights`, as above.

    **Returns:** the sweeps.

    **Raises:** `StoreError` if there are no such files, or if a sweep is there already.
    """
    found = sorted((as_path("weights", weights) / name).glob("*.npz"))
    if not found:
        raise errors.StoreError(
            f"{Path(weights) / name} holds no kept weights; `gnode reproduce run {name}` trains networks."
        )
    places = {path: as_path("sweeps", sweeps) / path.stem for path in found}
    for place in places.values():
        if place.exists():
            raise errors.StoreError(f"{place} is there already; choose another folder for the sweeps.")
    return [_unpacked(path, place) for path, place in places.items()]


def _packed(sweep: Sweep, members: list[int]) -> dict[str, np.ndarray]:
    """Returns a sweep as arrays: its text files by name, as the bytes of one JSON text, and the weights of some members."""
    ended = [f"{MEMBERS}/{index:04d}/{run_folder.RESULT}" for index in sweep.done()]
    looked_into = [f"{MEMBERS}/{index:04d}/{run_folder.CONFIG}" for index in members]
    names = [SPEC, *([RECORD] if (sweep.folder / RECORD).exists() else []), *ended, *looked_into]
    texts = {name: files.read_text(sweep.folder / name) for name in names}
    arrays = {TEXTS: np.frombuffer(json.dumps(texts).encode(), np.uint8)}
    for index in members:
        own = files.read_arrays(sweep.member_folder(index) / run_folder.WEIGHTS)
        arrays |= {f"{index:04d}/{name}": values for name, values in own.items()}
    return arrays


def _unpacked(path: Path, folder: Path) -> Sweep:
    arrays = files.read_arrays(path)
    if TEXTS not in arrays:
        raise files.damaged(path, f"it has no {TEXTS}")
    texts: dict[str, str] = json.loads(arrays.pop(TEXTS).tobytes())
    with files.new_folder(folder) as made:
        for name, text in texts.items():
            if not NAME.fullmatch(name):
                raise files.damaged(path, f"it has a file called {errors.shown(name)}")
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            files.write_text(made / name, text)
            if name.endswith(run_folder.CONFIG):
                member = name.split("/")[1]
                own = {key[len(member) + 1 :]: array for key, array in arrays.items() if key.startswith(f"{member}/")}
                files.write_arrays((made / name).with_name(run_folder.WEIGHTS), own)
    restored = Sweep(folder)
    restored.write_table()
    return restored
