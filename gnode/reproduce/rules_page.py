"""The page of the rules: how a claim is judged, by which protocols networks were trained, and which rules have changed."""

from gnode.reproduce import verdicts
from gnode.reproduce.archive import Result
from gnode.reproduce.protocols import ASPECTS, PROTOCOLS
from gnode.reproduce.result_files import row
from gnode.reproduce.rule_changes import RULE_CHANGES, RuleChange, both

HEAD = r"""# How claims are judged

Made by `gnode reproduce collect`, which judges every stored result again by these rules; the numbers stay as they are. Back
to [all results](../FOLDER.md).

## Verdicts

Two groups of seeds with means $m_1, m_2$, standard deviations $s_1, s_2$ and $n_1, n_2$ seeds are compared by the
difference of their means, whose standard error is

$$e = \sqrt{s_1^2 / n_1 + s_2^2 / n_2}.$$"""

SEVERAL = """A claim that something is so *generally* holds if it does in more than half of the comparisons that are
decided; it is indistinguishable if more than half of all comparisons are. A claim about several networks or sizes has the
worst verdict among them. Where all seeds of a network are stored, it comes below a bound if most of them do, since a mean
says little where some seeds fail; a single network is compared with a bound as it is. At smoke scale nothing is judged.

Targets of our own, beyond the paper, were set before the runs: a bound on the mean or the median over seeds, on a ratio of
medians, or a number of seeds. They are reached or missed as they stand, without an error; the spread over seeds is beside
them."""

CHANGED = """Every rule that was changed with its result in view, and the verdicts by both, also where they are the same.
Where a row stands for several claims, they are counted."""


def page(found: dict[str, list[Result]], folder: str) -> str:
    """Returns the page as Markdown, from the results of a folder by artefact."""
    parts = [HEAD.replace("FOLDER", folder), _verdict_table(), SEVERAL, "## Protocols", _protocol_table()]
    return "\n\n".join([*parts, "## Rules that changed after a result was seen", CHANGED, _changes_table(found)]) + "\n"


def _verdict_table() -> str:
    meaning = {
        verdicts.HOLDS: f"the difference has the claimed sign and exceeds {verdicts.STANDARD_ERRORS:g} $e$",
        verdicts.FAILS: f"it has the other sign and exceeds {verdicts.STANDARD_ERRORS:g} $e$",
        verdicts.TIE: f"it is at most {verdicts.STANDARD_ERRORS:g} $e$",
        verdicts.FLOOR: f"both errors are at most {verdicts.NEGLIGIBLE:g} of the signal's variance, where products "
        "rounded to 10 bits, as on a GPU, set the error",
        verdicts.OPEN: "nothing was measured, or there is one network only",
    }
    return "\n".join(["| verdict | of a comparison |", "|---|---|", *(row(*pair) for pair in meaning.items())])


def _protocol_table() -> str:
    names = [protocol.name for protocol in PROTOCOLS]
    rows = [row(aspect, *(protocol.does[aspect] for protocol in PROTOCOLS)) for aspect in ASPECTS]
    return "\n".join([row("", *names), "|" + "---|" * (len(names) + 1), *rows])


def _changes_table(found: dict[str, list[Result]]) -> str:
    lines = [
        row("artefact", "claims", "rule before", "verdict", "rule now", "verdict"),
        "|---|---|---|---|---|---|",
    ]
    for change in RULE_CHANGES:
        if change.artefact in found:
            before, after = both(change, found[change.artefact])
            name = f"[{change.artefact}]({change.artefact}.md)"
            lines.append(row(name, _which(change), change.rule_before, before, change.rule_after, after))
    return "\n".join(lines)


def _which(change: RuleChange) -> str:
    return "; ".join(f"{beginning} ..." for beginning in change.after or change.before)
