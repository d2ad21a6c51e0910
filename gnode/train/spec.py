"""A run as one flat list of named settings: what the shell, a sweep and a results table all speak of.

`RunSpec` holds such a list, with defaults filled in. `train_spec` trains what it describes: `gnode train`, `gnode demo` and
the benchmarks call it, and a sweep realises its members from the same specification, so that a member is the same run as one
that is trained alone.
"""

import dataclasses
from collections import ChainMap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gnode import errors, models, own_code
from gnode.arguments import check_kind, checked, checked_class
from gnode.cells import registry
from gnode.init import SMALL_BIAS_STD
from gnode.options import Option, option_like, options_of, widths
from gnode.os_errors import as_path
from gnode.solve import Solver
from gnode.tasks.registry import OPTIONS as TASK_OPTIONS
from gnode.tasks.registry import OWN_OPTIONS as OWN_TASK_OPTIONS
from gnode.tasks.registry import TASKS, check_name, short_name
from gnode.train.own_objects import as_stored
from gnode.train.settings import Settings, growing, with_present_names

if TYPE_CHECKING:
    from gnode.network import Network
    from gnode.tasks import Task
    from gnode.train._run import Run
    from gnode.train.callbacks import Callbacks
    from gnode.types import Key

__all__ = ["OPTIONS", "Realised", "RunSpec", "filled_in", "read", "read_one", "text_of", "train_spec"]

OPTIONS: Mapping[str, Option] = ChainMap(
    registry.OWN_OPTIONS,
    OWN_TASK_OPTIONS,
    {
        **TASK_OPTIONS,
        **models.network_options(),
        **options_of(Solver),
        **options_of(Settings),
        "seed": Option(
            "seed", int, "Seed of the weights and of the order of trials.", compiles=False, check=errors.seed
        ),
    },
)
"""Every setting of a run, by name: collected from where each is declared. Those of users' own code come and go."""

TASK_DEFAULTS: dict[str, dict[str, Any]] = {
    "flipflop-fixed": {"state": 6, "widths": (100, 100, 100), "tau": 0.01, "initial": "random"},
    "flipflop-variable": {"state": 6, "widths": (100, 100, 100), "tau": 0.01, "initial": "random"},
}
TASK_DEFAULTS["ou"] = {
    "state": 100,
    "widths": (1000,),
    "tau": 1.0,
    "initial": "affine",
    "init": "glorot_normal",
    "bias_std": SMALL_BIAS_STD,
    "epochs": 2000,
    "batch_size": 1,
}
REAL_WORLD_DEFAULTS = {"state": 32, "widths": (316, 316), "initial": "affine"}
TASK_DEFAULTS |= {
    "characters": REAL_WORLD_DEFAULTS | {"batch_size": 32, "spans": growing(182, 14, 100)},
    "walker2d": REAL_WORLD_DEFAULTS | {"batch_size": 256, "spans": growing(84, 14, 100, last=200)},
    "speech": {
        "state": 100,
        "widths": (1000,),
        "gate_widths": (1000,),
        "initial": "affine",
        "batch_size": 256,
        "epochs": 300,
    },
}
"""Appendix H; tau is the length of a bin."""

TWO_BIT_DEFAULTS = {"state": 2, "widths": (316, 316), "tau": 0.01, "initial": "affine"}
"""What the paper uses: three bits with a fixed initial state, two bits with a learned one."""

DEFAULTS: dict[str, Any] = {"model": "gnode", "seed": 0, "data_seed": 0}


PARTS = tuple(dict.fromkeys(option.part for option in OPTIONS.values()))


class Realised(NamedTuple):
    """A run that is ready to be trained: `fit_with(net, task, settings, key=key)`."""

    net: "Network"
    task: "Task"
    settings: Settings
    key: "Key"


@checked_class
@dataclasses.dataclass(frozen=True)
class RunSpec:
    """A task and all settings of a run by name.

    >>> RunSpec.of("flipflop-square", {"lr": 1e-2}).settings["widths"]
    (316, 316)
    """

    task: str
    settings: dict[str, Any]

    def __post_init__(self):
        for name in self.settings:
            if name not in OPTIONS:
                errors.one_of("setting", name, OPTIONS)

    @classmethod
    @checked
    def of(cls, task: str, given: dict[str, Any], *, drop_unused: bool = False) -> "RunSpec":
        """Fills in every setting that `given` leaves open and that has a default for this task and model.

        **Arguments:** `task`, a name or a file; `given`, settings by name; `drop_unused`, leave out settings that the model
        does not have (in a grid, the widths of an RNN) rather than refuse them.

        **Raises:** `ArgumentError` for an unknown setting or model.
        """
        given = with_present_names(given)
        declare_own(task, [given.get("model")])
        for name, value in given.items():
            OPTIONS[errors.one_of("setting", name, OPTIONS)].accept(name, value)
        return cls(task, filled_in(task, given, drop_unused=drop_unused))

    @checked
    def part(self, part: str) -> dict[str, Any]:
        """Returns the settings of one part: "task", "network", "solver" or "fit"."""
        errors.one_of("part", part, PARTS)
        return {name: value for name, value in self.settings.items() if OPTIONS[name].part == part}

    def fit_settings(self) -> Settings:
        """Returns the settings of training."""
        return Settings(**self.part("fit"))

    def make_task(self) -> "Task":
        """Makes the task with those of the settings that are its own."""
        from gnode.tasks import make

        options = self.part("task")
        return make(self.task, key=options.pop("data_seed", 0), **options)

    @checked
    def realise(self, task: "Task | None" = None) -> Realised:
        """Draws the network and returns the run; `task`, if it has been made already."""
        from gnode.tasks import Task
        from gnode.types import split_key

        check_kind("task", task, Task | None)
        task = self.make_task() if task is None else task
        key_net, key_fit = split_key(self.settings.get("seed", DEFAULTS["seed"]))
        network: dict[str, Any] = {"tau": task.dt, "state": 2 * task.outputs, "model": DEFAULTS["model"]}
        network |= self.part("network")
        model = network.pop("model")
        if "tau" not in registry.cell_entry(model).options and "tau" not in self.settings:
            del network["tau"]  # a cell of a user's own that has none
        net = models.build(model, task.inputs, task.outputs, key=key_net, solver=self.part("solver"), **network)
        return Realised(net, task, self.fit_settings(), key_fit)


def declare_own(task: str, models: Iterable[Any]) -> dict[str, tuple[str, ...]]:
    """Makes the arguments of a user's own task and cells known as settings; returns those of the cells by their names."""
    if own_code.is_own(task):
        from gnode.tasks.own_tasks import declare_options

        declare_options(task)
    return {name: registry.cell_entry(name).options for name in models if own_code.is_own(name)}


def declare_stored(parts: Mapping[str, str], examples: Mapping[str, Any]) -> None:
    """Makes settings of users' own code known as a folder names them, by the part that each belongs to."""
    own = {"network": registry.OWN_OPTIONS, "task": OWN_TASK_OPTIONS}
    for name, part in parts.items():
        if name not in OPTIONS and part in own:
            own[part][name] = option_like(part, examples.get(name), "A setting of a user's own code.")


def own_parts(names: Iterable[str]) -> dict[str, str]:
    """Returns those settings that are of users' own code, with the part that each belongs to."""
    own = {**registry.OWN_OPTIONS, **OWN_TASK_OPTIONS}
    return {name: own[name].part for name in names if name in own}


def filled_in(
    task: str,
    given: dict[str, Any],
    *,
    drop_unused: bool,
    own_models: Mapping[str, tuple[str, ...]] | None = None,
    is_stored: bool = False,
) -> dict[str, Any]:
    """Returns settings with defaults for what they leave open, as `RunSpec.of`, if their values are checked already.

    `own_models` are the options of users' own cells, where these are known without running their code; `is_stored` says
    that the task is one of arrays, which is known by no name.
    """
    named = task if is_stored else check_name(task)
    defaults = {} if is_stored else TASK_DEFAULTS.get(named, TWO_BIT_DEFAULTS if named in TASKS else {})
    full = DEFAULTS | given
    known = own_models or {}
    has = known[full["model"]] if full["model"] in known else registry.cell_entry(full["model"]).options
    unused = {name for name in (*registry.OPTIONS, *registry.OWN_OPTIONS) if name not in has}
    full |= {name: value for name, value in defaults.items() if name not in given and name not in unused}
    if "epochs" in given and "spans" not in given:
        full.pop("spans", None)  # a task's own spans are for its own number of epochs
    if full.get("spans") and "epochs" not in given:
        full["epochs"] = sum(epochs for _, epochs in full["spans"])
    return {name: value for name, value in full.items() if not (drop_unused and name in unused)}


@checked
def train_spec(
    spec: RunSpec,
    out: str | Path | None = None,
    *,
    runs: str | Path | None = None,
    progress: bool | None = None,
    callbacks: "Callbacks | None" = None,
) -> "Run":
    """Trains the run that a specification describes.

    **Arguments:** `spec`; `out`, the folder of the run; `runs`, where `out` is None, a folder in which one called
    TASK-MODEL-N is made (with neither, nothing is written); `progress` and `callbacks`, as in `gnode.fit`.

    **Returns:** a `Run`.

    >>> small = {"trials": 4, "bins": 3, "widths": (4,), "epochs": 1}
    >>> train_spec(RunSpec.of("flipflop-square", small)).status
    'finished'
    """
    from gnode.train._fit import fit_with

    out = None if out is None else as_path("out", out)
    runs = None if runs is None else as_path("runs", runs)
    net, task, settings, key = spec.realise()
    if out is None and runs is not None:
        model = spec.settings.get("model", DEFAULTS["model"])
        model = own_code.own_name(model) if own_code.is_own(model) else model
        out = runs / f"{short_name(task.name)}-{model}-{net.cell.units}"
    named = {"spec": as_stored(spec.settings)}
    return fit_with(net, task, settings, key=key, out=out, progress=progress, extra_config=named, callbacks=callbacks)


@checked
def train_or_resume(
    spec: RunSpec, out: str | Path, *, progress: bool | None = None, callbacks: "Callbacks | None" = None
) -> "Run":
    """Trains the run that a specification describes, or, where `out` holds that very run already, what is left of it.

    **Arguments:** as in `train_spec`.

    **Raises:** `StoreError` if the folder holds another run: one of other settings, or of other code of the user's own.

    >>> import tempfile
    >>> spec = RunSpec.of("flipflop-square", {"trials": 4, "bins": 3, "widths": (4,), "epochs": 1})
    >>> folder = tempfile.mkdtemp()
    >>> [train_or_resume(spec, folder).status for _ in range(2)]
    ['finished', 'finished']
    """
    from gnode.train import run_folder
    from gnode.train._fit import resume

    folder = as_path("out", out)
    if not (folder / run_folder.CONFIG).exists():
        return train_spec(spec, folder, progress=progress, callbacks=callbacks)
    _check_same(folder, spec)
    return resume(folder, trust=True, progress=progress, callbacks=callbacks)


def _check_same(folder: Path, spec: RunSpec) -> None:
    """Raises a `StoreError` if the run in a folder is not the one that a specification describes."""
    from gnode import files  # imports numpy, for which the command line need not wait
    from gnode.train import run_folder, stored_code

    config = run_folder.read_config(folder)
    wanted = {"task": spec.task, **files.as_read(as_stored(spec.settings))}
    there = {"task": config["task"]["name"], **config.get("spec", {})}
    if differing := [name for name in {**there, **wanted} if there.get(name) != wanted.get(name)]:
        raise errors.StoreError(
            f"{folder} holds a run with other settings than these ({', '.join(differing)}); choose another folder, or "
            f"remove that one."
        )
    names = [spec.task, *stored_code.names_in(spec.settings)]
    here = stored_code.Copies.of([name for name in names if isinstance(name, str)]).digests
    if here != {code.digest for code in stored_code.read(folder, config.get("code")).values()}:
        raise errors.StoreError(
            f"{folder} holds a run of the same settings whose own code was different; choose another folder, or remove it."
        )


def read(name: str, text: str) -> Any:
    """Reads the value of a setting from its text.

    **Raises:** `ArgumentError` for a text that cannot be read, with an example.

    >>> read("widths", "316x316")
    (316, 316)
    """
    option = OPTIONS[errors.one_of("setting", name, OPTIONS)]
    try:
        return option.read(text.strip())
    except (ValueError, KeyError, IndexError) as problem:
        example = option.example or ("3" if option.read is int else "1e-3" if option.read is float else "")
        raise errors.ArgumentError(
            f"{name} is {errors.shown(text)}, which cannot be read; write it like {example}."
        ) from problem


def read_one(name: str, text: str) -> Any:
    """Reads a setting of a single run: a text with commas would be several values, which only a sweep takes."""
    if "," in text and OPTIONS[name].read is not widths:
        raise errors.ArgumentError(
            f"{name} is {errors.shown(text)}, several values; train them with gnode sweep, or write the parts of one value "
            f"with colons."
        )
    return read(name, text.replace(",", "x"))


def text_of(name: str, value: Any) -> Any:
    """Returns a value as `read` takes it; numbers and words as they are."""
    return OPTIONS[name].text(value)
