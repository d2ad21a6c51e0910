"""The committed pages: what collect makes of the committed results, with links and pictures that are there."""

import json
import re
from pathlib import Path

import pytest

from gnode.reproduce import archive, better, causes, judging, page, rule_changes, summary, verdicts
from gnode.reproduce.artefact import Claim
from gnode.reproduce.evidence import EARLIER, Evidence, NoEvidence
from gnode.reproduce.registry import NAMES

DOCUMENTED = Path(__file__).parents[2] / "docs" / "results" / "reproduce"


def test_the_committed_pages_are_what_their_files_make():
    assert page.results_page(DOCUMENTED) == DOCUMENTED.with_suffix(".md").read_text()
    pages = page.artefact_pages(DOCUMENTED)
    assert {path.name: path.read_text() for path in DOCUMENTED.glob("*.md")} == pages


def test_the_committed_verdicts_are_those_of_todays_rules_and_no_number_has_changed():
    for path, content in archive.result_files(DOCUMENTED):
        judged = judging.judge_again(content)
        assert judged == content, path.name
        assert judging.judge_again(judged) == judged


def test_links_and_pictures_of_the_pages_are_there():
    texts = {DOCUMENTED.parent: page.results_page(DOCUMENTED)}
    for name, text in [("", texts[DOCUMENTED.parent]), *page.artefact_pages(DOCUMENTED).items()]:
        folder = DOCUMENTED if name else DOCUMENTED.parent
        targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
        assert targets
        for target in targets:
            assert (folder / target).exists(), (name, target)


def test_no_page_has_a_column_or_a_table_without_content():
    for name, text in page.artefact_pages(DOCUMENTED).items():
        for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
            rows = [line.replace(r"\|", "").strip("|").split("|") for line in table.strip().splitlines()]
            assert len(rows) > 2, (name, table)
            for column in zip(*rows[2:]):
                assert any(cell.strip() for cell in column), (name, table)


def result(**changes):
    content = json.loads((DOCUMENTED / "square.json").read_text())
    return content | {"checks": content.get(EARLIER, content["checks"])} | changes


def test_judging_again_keeps_the_verdicts_of_the_run_and_every_number():
    """The nODE's mean is 0.0185 with a standard error of 0.0009: below 0.02, and by less than two of them."""
    content = {name: value for name, value in result().items() if name != EARLIER}
    judged = judging.judge_again(content)
    assert [verdicts.of_stored(claim) for claim in judged[EARLIER]] == ["holds", "does not hold", "holds"]
    assert [claim["verdict"] for claim in judged["checks"]] == ["holds", "indistinguishable", "holds"]
    assert {k: v for k, v in judged.items() if k not in ("checks", EARLIER)} == {
        k: v for k, v in content.items() if k != "checks"
    }
    assert judging.judge_again(content | {"scale": "smoke"})["checks"] == content["checks"]


def test_what_a_file_lacks_keeps_the_verdict_of_the_run_and_says_so():
    content = {name: value for name, value in result(numbers=[]).items() if name != EARLIER}
    checks = judging.judge_again(content)["checks"]
    assert [claim["verdict"] for claim in checks] == ["holds", "does not hold", "holds"]
    assert all("the verdict of the run, since its file has no number" in claim["note"] for claim in checks)
    with pytest.raises(NoEvidence):
        Evidence.of(content).group("RNN, N = 2: minimum validation MSE")
    assert Evidence.fresh([]).decide("A.", lambda: Evidence.fresh([]).detail("b")) == Claim("A.", "not decided")


def test_causes_need_what_establishes_them():
    whys = [cause for cause in causes.CAUSES if cause.shown_by]
    artefact, claim, text, (by, shown), _ = whys[0]
    other = next(cause.why for cause in whys if cause.claim == claim and cause.verdict == "does not hold")
    for verdict, expected in (("holds", text), ("does not hold", other), ("not decided", causes.UNKNOWN)):
        found = {by: [{"checks": [{"claim": shown, "verdict": verdict, "measured": {}}]}]}
        assert causes.why(artefact, claim, found) == expected
    assert causes.why(artefact, claim, {}) == causes.UNKNOWN
    assert causes.why("fig9", "Anything.", {}) == causes.UNKNOWN


def test_causes_and_changes_of_rules_are_about_stored_claims():
    found = archive.read_results(DOCUMENTED)
    claims = {name: [claim["claim"] for content in some for claim in content["checks"]] for name, some in found.items()}
    for cause in causes.CAUSES:
        assert cause.artefact in NAMES
        assert cause.claim in claims.get(cause.artefact, [cause.claim]), cause
    for change in rule_changes.RULE_CHANGES:
        before, after = rule_changes.both(change, found[change.artefact])
        assert before != "-", change
        assert (after == "-") == (not change.after), change


def test_the_first_rules_on_disk_ring_and_capacity_would_fail():
    found = archive.read_results(DOCUMENTED)
    replaced = {
        c.artefact: rule_changes.both(c, found[c.artefact])[0] for c in rule_changes.RULE_CHANGES if not c.before
    }
    assert replaced == dict.fromkeys(("fig2", "ring", "capacity", "ou-networks"), "does not hold")


@pytest.mark.parametrize(
    ("name", "ours", "std", "published", "expected"),
    [
        ("x: test MSE", 0.464, 0.003, "0.552 ± 0.019", better.BETTER),
        ("x: test MSE", 0.545, 0.003, "0.552 ± 0.019", better.SAME),  # 0.007 is less than 2 * 0.0086
        ("x: test MSE", 0.600, 0.003, "0.552 ± 0.019", better.WORSE),
        ("x: minimum validation MSE", 2e-7, 1e-8, "3.2e-8", better.SAME),  # both at the floor
        ("x: test accuracy", 0.99, 0.001, "0.986 ± 0.001", better.BETTER),
        ("x: minimum validation MSE", 0.018, 0.005, "0.0137", better.SAME),
        ("x: minimum validation MSE", 0.02, 0.005, "< 0.0137", None),
        ("speech test accuracy", 0.9, 0.001, "0.8 ± 0.001", None),
        ("x: median (1/s)", 0.9, 0.001, "0.8", None),
    ],
)
def test_numbers_against_the_published_ones(name, ours, std, published, expected):
    number = {"name": name, "ours": ours, "std": std, "seeds": 5, "published": published}
    assert better.compared(number) == expected
    assert better.compared(number | {"seeds": 1, "std": None}) is None


def test_every_claim_is_counted_once():
    text = page.results_page(DOCUMENTED)
    counts = [
        list(map(int, line.split("|")[2:-1]))
        for line in text.splitlines()
        if line.startswith(("| the paper's claims,", "| our own"))
    ]
    found = archive.read_results(DOCUMENTED)
    claims = {(name, claim["claim"]) for name, some in found.items() for one in some for claim in one["checks"]}
    assert sum(map(sum, counts)) == len(claims)


def test_every_artefact_has_a_theme_in_the_summary():
    assert sorted(name for names in summary.THEMES.values() for name in names) == sorted(NAMES)
