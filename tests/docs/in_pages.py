"""What the pages show: blocks of Python and lines of the shell, found in their Markdown.

A block of Python that does not run just as it stands there has a comment right before it:

    <!-- not run: REASON -->        it never runs, for this reason
    <!-- needs: PACKAGE, ... -->    it runs where these packages are installed (by their names of import); a block that goes
                                    on from it has the mark, too
    <!-- after: FOLDER -->          it runs after the command above it that writes this folder, `gnode ... --out FOLDER`
"""

import dataclasses
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEFT_OUT = ("docs/reference", "docs/_build")
"""Made when the site is built."""


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block of a page: its language, its text, the line on which it begins, and the mark before it."""

    page: str
    line: int
    language: str
    text: str
    mark: str | None
    reason: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def packages(self) -> list[str]:
        """The packages that it needs beyond those that the tests have."""
        return self.reason.split(", ") if self.mark == "needs" else []

    @property
    def file(self) -> str | None:
        """The name of the file that the block is, as its first line says: `# mycells.py`."""
        found = re.match(r"# ([\w/]+\.py)\n", self.text)
        return None if found is None else found[1]


@dataclasses.dataclass(frozen=True)
class Command:
    """A call of `gnode` in a page, the words after it, or in a sentence perhaps only the name of a command."""

    page: str
    line: int
    words: tuple[str, ...]
    in_sentence: bool = False

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: gnode {shlex.join(self.words)}"


def pages() -> list[str]:
    """The Markdown pages whose code is checked, by their paths in the repository."""
    found = [path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("docs/**/*.md"))]
    return ["README.md", *(name for name in found if not name.startswith(LEFT_OUT))]


FENCE = re.compile(r"^( *)(`{3,}|~{3,})\{?([\w-]*)\}?[^\n]*$")
MARK = re.compile(r"^\s*<!-- (not run|needs|after):(.*?)-->\s*$")


def blocks(page: str, text: str) -> Iterator[Block]:
    """Finds the fenced blocks of a page, in order."""
    lines, k, mark = text.splitlines(), 0, None
    while k < len(lines):
        opened = FENCE.match(lines[k])
        if opened is None:
            noted = MARK.match(lines[k])
            mark = noted if noted or lines[k].strip() else mark  # an empty line may come between
            k += 1
            continue
        indent, fence, language = opened.groups()
        end = next(
            (n for n in range(k + 1, len(lines)) if re.fullmatch(rf" *{fence[0]}{{{len(fence)},}} *", lines[n])),
            len(lines),
        )
        inside = "".join(line.removeprefix(indent) + "\n" for line in lines[k + 1 : end])
        kind, reason = (mark[1], mark[2].strip()) if mark else (None, "")
        yield Block(page, k + 2, language, inside, kind, reason)
        k, mark = end + 1, None


SHELL = ("bash", "shell", "sh", "console")


def shell_lines(page: str, text: str) -> Iterator[tuple[int, str]]:
    """Finds the lines of shell blocks and of indented blocks, those that end in a backslash joined, with their numbers."""
    fenced = {n: block.language for block in blocks(page, text) for n in _lines_of(block)}
    indented = dict(indented_lines(page, text))
    begun: tuple[int, str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        inside = fenced[number] in SHELL if number in fenced else number in indented
        if not inside:
            begun = None
            continue
        where, before = begun or (number, "")
        whole = before + line.strip()
        begun = (where, whole[:-1]) if whole.endswith("\\") else None
        if begun is None:
            yield where, whole


def _lines_of(block: Block) -> range:
    return range(block.line, block.line + block.text.count("\n"))


def indented_lines(page: str, text: str) -> Iterator[tuple[int, str]]:
    """Finds the lines that are code by four spaces alone, with their numbers."""
    fenced = {n for block in blocks(page, text) for n in (block.line - 1, *_lines_of(block), _lines_of(block).stop)}
    for number, line in enumerate(text.splitlines(), 1):
        if number not in fenced and line.startswith("    "):
            yield number, line.strip()


INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


def inline_code(page: str, text: str) -> Iterator[tuple[int, str]]:
    """Finds the code in the sentences and tables of a page, with the numbers of its lines."""
    fenced = {n for block in blocks(page, text) for n in _lines_of(block)}
    for number, line in enumerate(text.splitlines(), 1):
        if number not in fenced and not line.startswith("    "):
            for found in INLINE.findall(line):
                yield number, found


def commands(page: str, text: str) -> Iterator[Command]:
    """Finds every call of `gnode` of a page: in shell blocks, in indented blocks, and in the code of sentences."""
    for number, line in shell_lines(page, text):
        for words in calls(line.removeprefix("$ ")):
            yield Command(page, number, words)
    for number, code in inline_code(page, text):
        for words in calls(code):
            yield Command(page, number, words, in_sentence=True)


def calls(line: str) -> Iterator[tuple[str, ...]]:
    """Returns the words after each `gnode` of a line of the shell, also of one that is quoted in another command.

    >>> list(calls("pip install x && gnode demo --epochs 3 > log.txt  # a minute"))
    [('demo', '--epochs', '3')]
    >>> list(calls("sbatch --array=1-10 --wrap 'gnode sweep resume runs/grid --part $SLURM_ARRAY_TASK_ID/10'"))
    [('sweep', 'resume', 'runs/grid', '--part', '$SLURM_ARRAY_TASK_ID/10')]
    """
    if "gnode" not in line:
        return
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    try:
        tokens = [*lexer, ";"]
    except ValueError:  # an apostrophe in a sentence that is indented: no line of the shell
        return
    call: list[str] = []
    for token in tokens:
        if token.strip("|&;<>()"):
            call.append(token)
            continue
        yield from _of_one(call)
        call = []


def _of_one(call: list[str]) -> Iterator[tuple[str, ...]]:
    """The words after `gnode` of one command, which may come after variables, `srun` and the like."""
    for k, word in enumerate(call):
        if word.rpartition("/")[2] == "gnode" and all(_may_come_before(one) for one in call[:k]):
            yield tuple(one for one in call[k + 1 :] if one != "...")
            return
        if word.startswith("gnode ") and k > 0:
            yield from calls(word)


def _may_come_before(word: str) -> bool:
    return "=" in word or word.startswith("-") or word in ("srun", "nohup", "time", "uv", "run")
