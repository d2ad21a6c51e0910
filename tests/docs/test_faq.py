"""docs/faq.md: the messages that it quotes are those of the source, and every question is answered."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUESTIONS = re.split(r"^### ", (ROOT / "docs" / "faq.md").read_text(), flags=re.MULTILINE)[1:]
QUOTED = [
    pytest.param(line.removeprefix("> ").strip("`"), id=question.partition("\n")[0])
    for question in QUESTIONS
    for line in question.splitlines()
    if line.startswith("> `")
]


def as_text(node: ast.expr) -> str:
    """A string of the source as the page writes it: … for each value in it."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts)


@cache
def strings() -> tuple[str, ...]:
    """All strings of gnode, those of several lines joined, without docstrings."""
    found = []
    for path in (ROOT / "gnode").rglob("*.py"):
        tree = ast.parse(path.read_text())
        texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            if (is_text or isinstance(node, ast.JoinedStr)) and id(node) not in texts:
                found.append(as_text(node))
    return tuple(found)


def occurs(quote: str) -> bool:
    """Whether the parts of a quote between its … come after one another in one string of the source."""
    parts = [part.strip() for part in quote.split("…")]
    pattern = re.compile(".*".join(map(re.escape, filter(None, parts))), re.DOTALL)
    return any(pattern.search(text) for text in strings())


@pytest.mark.parametrize("quote", QUOTED)
def test_what_is_quoted_is_what_gnode_says(quote):
    assert max(map(len, quote.split("…"))) >= 7, "too short a quote to mean anything"
    assert occurs(quote), quote


def test_another_wording_would_be_noticed():
    assert occurs("is in use by …; wait for it to end")
    assert not occurs("is in use by …; wait until it ends")
    assert not occurs("wait for it to end … is in use by")


@pytest.mark.parametrize("question", QUESTIONS, ids=[one.partition("\n")[0] for one in QUESTIONS])
def test_every_question_has_a_message_a_reason_and_a_remedy(question):
    kinds = [line[:1] for line in question.splitlines() if line.startswith(("> `", "**Why.** ", "**What to do.** "))]
    assert re.fullmatch(r">+\*\*", "".join(kinds))
    assert all(re.fullmatch(r">|> (`+)[^\n]+\1", line) for line in question.splitlines() if line.startswith(">"))


def test_there_are_as_many_questions_as_people_have():
    titles = [question.partition("\n")[0] for question in QUESTIONS]
    assert len(titles) == len(set(titles)) >= 30
