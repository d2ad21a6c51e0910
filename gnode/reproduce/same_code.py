"""One version of the training code for all networks of a result: what is mixed is refused."""

from collections.abc import Iterable

from gnode import errors
from gnode.sweeps import Sweep
from gnode.training_code import UNKNOWN, recorded, training_code


def codes_of(sweep: Sweep) -> list[str]:
    """Returns the hashes of the code that the members of a sweep were trained by; none if nothing is trained or prepared."""
    return recorded(sweep.folder) or ([UNKNOWN] if sweep.done() else [])


def refuse_another(sweeps: Iterable[Sweep]) -> None:
    """Checks, before anything is trained, that what is left to train would be trained by the code that trained the rest.

    **Raises:** `StoreError` if not.
    """
    sweeps = list(sweeps)
    others = sorted({one for sweep in sweeps for one in codes_of(sweep)} - {training_code()})
    left = [sweep.folder.name for sweep in sweeps if sweep.todo()]
    if others and left:
        raise errors.StoreError(
            f"{', '.join(left)} would be trained by another version of the training code ({training_code()}) than the "
            f"sweeps that are there ({', '.join(others)}), and one table cannot hold both; name "
            f"the trained ones with --only, or give another folder with --sweeps to train all of them again."
        )


def common_code(sweeps: Iterable[Sweep]) -> str | None:
    """Returns the hash of the code that all members of some sweeps were trained by; None if none of them has a record.

    **Raises:** `StoreError` if there is more than one, or if some sweeps have a record and others do not.
    """
    found = {sweep.folder: codes_of(sweep) for sweep in sweeps}
    first = {one: folder for folder, hashes in reversed(found.items()) for one in reversed(hashes)}
    if len(first) > 1:
        where = ", ".join(f"{one} in {folder}" for one, folder in reversed(first.items()))
        raise errors.StoreError(
            f"the networks were trained by different versions of the training code ({where}), so one table cannot hold "
            f"them; remove the sweeps of one version and train them again."
        )
    (one,) = first or (UNKNOWN,)
    return None if one == UNKNOWN else one
