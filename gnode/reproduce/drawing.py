"""Draws the figures of stored results again, as far as their numbers determine them, without any network."""

from collections.abc import Collection
from pathlib import Path

from gnode import files, plots
from gnode.reproduce import archive
from gnode.reproduce.registry import find_artefact

FORMATS = ("png", "pdf")


def draw_folder(folder: Path, names: Collection[str] = ()) -> list[Path]:
    """Draws the figures of the results of a folder again, and removes panels that are no longer made.

    **Arguments:** `folder`; `names` of artefacts, all of them by default.

    **Returns:** the pictures that were drawn.
    """
    drawn: list[Path] = []
    for path, content in archive.result_files(folder):
        artefact = find_artefact(content["name"])
        if artefact.draw is None or (names and artefact.name not in names):
            continue
        kept = [f"{path.stem}-{panel}.png" for panel in artefact.needs_networks]
        kept = [name for name in kept if name in content["figures"]]
        made: list[Path] = []
        for panel, figure in artefact.draw(content.get("details", {})).items():
            made += plots.save(figure, path.with_name(f"{path.stem}-{panel}"), FORMATS)
        pictures = sorted({*kept, *(file.name for file in made if file.suffix == ".png")})
        for name in set(content["figures"]) - set(pictures):
            for suffix in FORMATS:
                files.inside(folder, name).with_suffix(f".{suffix}").unlink(missing_ok=True)
        files.write_json(path, content | {"figures": pictures})
        drawn += made
    return drawn
