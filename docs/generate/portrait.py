"""The page that moves on the landing page: the explorer's page of a network that comes with gnode."""

from pathlib import Path

from PIL import Image

from generate import DOCS, write_if_different

NETWORK = "square"

WITHOUT_WORDS = "<style>.gnode-page .header, .gnode figcaption > .caption { display: none }</style></head>"
"""The landing page says what the network is; its frame has the picture and its scale."""


def write(folder: Path) -> None:
    """Writes `NETWORK.html`, the whole page, `NETWORK-frame.html`, the same with fewer words, and a picture of it."""
    import gnode

    text = gnode.explore(NETWORK).html()
    write_if_different(folder / f"{NETWORK}.html", text)
    write_if_different(folder / f"{NETWORK}-frame.html", text.replace("</head>", WITHOUT_WORDS, 1))
    with Image.open(DOCS / "images" / "explorer.webp") as film:  # its first picture, a fraction of the size of all
        film.convert("RGB").save(folder / f"{NETWORK}.webp", quality=80)
