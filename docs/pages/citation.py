"""How to cite gnode and the paper, from CITATION.cff."""

from typing import Any

import yaml

from pages import ROOT

PATH = "docs/citation.md"

INTRODUCTION = """# Citation and licences

Made by `make docs` from [CITATION.cff](../CITATION.cff), which GitHub and reference managers read.

The networks, tasks and theory are from the paper. Please cite it:

> {paper}

```bibtex
{paper_bibtex}
```

If your numbers were computed with gnode, say with which version; it is in the folder of every run, and `gnode info`
prints it:

```bibtex
{software_bibtex}
```

Other cells are other authors': [the relatives](relatives.md) names the paper of each.

## Licences
gnode is under [Apache-2.0](../LICENSE): use it, change it and pass it on, also in commercial work, with the licence
and a note of what you changed. Networks that you train and files that you export are yours. [What others
made](../THIRD_PARTY.md) lists what comes along with the package or the site, and the licences of the data sets.
"""

Reference = dict[str, Any]


def page() -> str:
    """Returns the text of the page."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    paper = citation["preferred-citation"]
    return INTRODUCTION.format(
        paper=in_words(paper), paper_bibtex=paper_bibtex(paper), software_bibtex=software_bibtex(citation)
    )


def in_words(paper: Reference) -> str:
    """Returns the paper as a list of references has it."""
    names = [f"{author['given-names']} {author['family-names']}" for author in paper["authors"]]
    said = f"{', '.join(names[:-1])} and {names[-1]}. *{paper['title']}.* {paper['collection-title']}"
    return f"{said}, {paper['year']}."


def paper_bibtex(paper: Reference) -> str:
    """Returns the entry of the paper."""
    authors = [f"{author['family-names']}, {author['given-names']}" for author in paper["authors"]]
    first_word = paper["title"].partition(",")[0].lower()
    fields = {
        "title": braced(paper["title"]),
        "author": " and ".join(authors),
        "booktitle": paper["collection-title"],
        "year": paper["year"],
    }
    return entry("inproceedings", f"{paper['authors'][0]['family-names'].lower()}{paper['year']}{first_word}", fields)


def software_bibtex(citation: Reference) -> str:
    """Returns the entry of the software, whose authors are one name."""
    fields = {
        "title": braced(citation["title"]),
        "author": f"{{{citation['authors'][0]['name']}}}",
        "version": citation["version"],
        "year": citation["date-released"].year,
        "note": f"{citation['license']} licence",
    }
    return entry("software", "gnode", fields)


def braced(title: str) -> str:
    """A title with braces around the words whose capitals are meant, as ODEs and JAX.

    >>> braced("Gated Neural ODEs and JAX")
    'Gated Neural {ODEs} and {JAX}'
    """
    words = [f"{{{word}}}" if sum(letter.isupper() for letter in word) > 1 else word for word in title.split()]
    return " ".join(words)


def entry(kind: str, key: str, fields: dict[str, Any]) -> str:
    """Returns an entry of BibTeX."""
    width = max(map(len, fields))
    lines = [f"  {name:{width}} = {{{text}}}" for name, text in fields.items()]
    return f"@{kind}{{{key},\n" + ",\n".join(lines) + "\n}"
