"""The release: one version everywhere, workflows that run what anybody can run, packages that hold what they have to."""

import io
import json
import re
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import gnode
from gnode.tasks.datasets.originals import DATASETS

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text()
THIRD_PARTY = (ROOT / "THIRD_PARTY.md").read_text()


@pytest.fixture(autouse=True)
def scripts_on_the_path(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "release"))


def row_of(name, text=THIRD_PARTY):
    """The cells of the only row of a table that begins with a name."""
    (found,) = [line for line in text.splitlines() if line.startswith(f"| {name} |")]
    return [cell.strip() for cell in found.strip("|").split("|")]


# ---- one version


def test_everything_names_the_same_version():
    import version

    assert version.version() == gnode.__version__
    assert version.disagreements() == []
    assert PROJECT["dynamic"] == ["version"]
    assert "version" not in PROJECT


def test_what_disagrees_is_told(tmp_path):
    import version

    (tmp_path / "gnode").mkdir()
    (tmp_path / "gnode" / "__init__.py").write_text('"""x"""\n\n__version__ = "1.2.3"\n')
    (tmp_path / "CITATION.cff").write_text("version: 1.2.2\ndate-released: 2020-01-02\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\n## 1.2.3 (2020-01-03)\n## 1.2.2 (2020-01-02)\n")
    assert version.disagreements(tmp_path) == [
        "CITATION.cff has version 1.2.2, not 1.2.3.",
        "CITATION.cff was released 2020-01-02; the first entry of CHANGELOG.md is '1.2.3 (2020-01-03)'.",
    ]
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\n## Unreleased\n")
    assert "'Unreleased', not '1.2.3 (YYYY-MM-DD)'" in version.disagreements(tmp_path)[1]


def test_the_citation_is_the_papers_and_the_readmes():
    paper = CITATION["preferred-citation"]
    text = (ROOT / "README.md").read_text()
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["license"] == PROJECT["license"]
    assert paper["title"] in text.replace("\n> ", " ")
    assert str(paper["year"]) in text
    for author in paper["authors"]:
        assert author["family-names"] in text


# ---- what is on GitHub


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_what_anybody_can_run(path):
    """Commands are targets of the Makefile or scripts of the repository, and nothing asks for a secret or to write."""
    text = path.read_text()
    workflow = yaml.safe_load(text)
    assert "secrets." not in text
    assert workflow["permissions"] == {"contents": "read"}
    targets = set(re.findall(r"^([a-z][\w-]*):", MAKEFILE, re.MULTILINE))
    commands = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    for command in commands:
        first, *words = command.split()
        if first == "make":
            assert words[0] in targets, command
        else:
            script = words[0] if first == "python" else first
            assert (ROOT / script).is_file(), command
    assert commands
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())


def test_only_the_job_that_publishes_may_do_more_and_only_after_the_tries():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    assert [name for name, job in jobs.items() if "permissions" in job] == ["publish"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["needs"] == ["build", "try"]


def test_workflows_try_every_python_that_the_package_names():
    named = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert f">={named[0]}" == PROJECT["requires-python"]
    for file, job in (("tests", "tests"), ("release", "try")):
        jobs = yaml.safe_load((ROOT / ".github" / "workflows" / f"{file}.yml").read_text())["jobs"]
        assert jobs[job]["strategy"]["matrix"]["python"] == named


@pytest.mark.parametrize("path", [path for path in FORMS if path.stem != "config"], ids=lambda path: path.stem)
def test_a_form_asks_something_and_names_pages_that_are_there(path):
    form = yaml.safe_load(path.read_text())
    questions = [part for part in form["body"] if part["type"] == "textarea"]
    assert any(part.get("validations", {}).get("required") for part in questions)
    assert len({part["id"] for part in form["body"] if "id" in part}) == len(
        [part for part in form["body"] if part["type"] != "markdown"]
    )
    for page in re.findall(r"\b((?:docs/)?[\w-]+\.md)\b", path.read_text()):
        assert (ROOT / page).is_file(), page


# ---- packages


def packed_wheel(folder, names):
    with zipfile.ZipFile(folder / f"gnode-{gnode.__version__}-py3-none-any.whl", "w") as file:
        for name in names:
            file.writestr(name, "")


def packed_sdist(folder, names):
    with tarfile.open(folder / f"gnode-{gnode.__version__}.tar.gz", "w:gz") as file:
        for name in names:
            file.addfile(tarfile.TarInfo(f"gnode-{gnode.__version__}/{name}"), io.BytesIO())


@pytest.fixture
def contents():
    import contents

    return contents


def right_names(contents):
    package = contents.of_the_package()
    licences = {f"gnode-{gnode.__version__}.dist-info/licenses/{name}" for name in contents.LICENCES}
    of_the_sdist = {
        name if Path(name).suffix or (ROOT / name).is_file() else f"{name}/x.py" for name in contents.OF_THE_SDIST
    }
    return package | licences, package | of_the_sdist


def test_a_wheel_and_an_sdist_with_everything_are_right(contents, tmp_path):
    wheel, sdist = right_names(contents)
    packed_wheel(tmp_path, wheel)
    packed_sdist(tmp_path, sdist)
    assert contents.wrong_in(tmp_path) == []


@pytest.mark.parametrize("missing", ["gnode/py.typed", "gnode/explorer/assets/explorer.js", "gnode/cells/_gru.py"])
def test_what_a_package_lacks_is_told(contents, tmp_path, missing):
    wheel, sdist = right_names(contents)
    packed_wheel(tmp_path, wheel - {missing})
    packed_sdist(tmp_path, sdist - {missing, "explorer/src/main.ts"})
    wrong = contents.wrong_in(tmp_path)
    assert wrong == [
        f"the wheel lacks {missing}.",
        "the sdist lacks explorer/src/main.ts.",
        f"the sdist lacks {missing}.",
    ]


def test_what_a_package_has_too_much_is_told(contents, tmp_path):
    wheel, sdist = right_names(contents)
    packed_wheel(tmp_path, wheel | {"tests/conftest.py", "docs/index.md"})
    packed_sdist(tmp_path, sdist | {"explorer/node_modules/esbuild/main.js"})
    wrong = contents.wrong_in(tmp_path)
    assert "the wheel has tests/conftest.py, which is not in the package." in wrong
    assert "the wheel has docs/index.md, which is not in the package." in wrong
    assert f"the sdist has gnode-{gnode.__version__}/explorer/node_modules/esbuild/main.js." in wrong
    assert len(wrong) == 3


def test_files_that_the_sdist_has_to_hold_are_in_the_repository(contents):
    for name in (*contents.OF_THE_SDIST, *contents.NEEDED):
        assert (ROOT / name).exists(), name


def test_the_lowest_versions_were_tried_as_they_are_asked_for_now():
    import lowest

    asked = lowest.lowest((ROOT / "pyproject.toml").read_text())
    tried = [json.loads(path.read_text()) for path in (ROOT / "release" / "tried").glob("lowest-*.json")]
    assert tried, "run make try-lowest"
    for record in tried:
        assert record["failure"] is None
        for name, bound in asked.items():
            assert re.fullmatch(rf"{re.escape(bound)}(\.0)*", record["versions"][name]), name


def test_the_lowest_versions_are_those_of_the_project():
    import lowest

    found = lowest.constraints((ROOT / "pyproject.toml").read_text()).splitlines()
    assert [line.replace("==", ">=") for line in found] == PROJECT["dependencies"]
    with pytest.raises(ValueError, match=r"jax~=0\.10"):
        lowest.lowest('[project]\ndependencies = ["jax~=0.10"]')


# ---- what was tried


def test_the_page_names_every_extra_and_every_python():
    page = (ROOT / "docs" / "support.md").read_text()
    for extra in PROJECT["optional-dependencies"]:
        assert f"| `{extra}` |" in page


def test_records_of_tries_are_of_this_version_and_say_nothing_of_this_machine():
    wheels = [json.loads(path.read_text()) for path in (ROOT / "release" / "tried").glob("wheel-*.json")]
    assert wheels
    for path in (ROOT / "release" / "tried").glob("*.json"):
        text = path.read_text()
        assert not re.search(r"(?<![\w.~])/(home|root|tmp|work|opt|Users)/", text), path.name
        assert not re.search(r"https?://", text), path.name
    for record in wheels:
        assert record["failure"] is None
        assert all(step["status"] == 0 for step in record["steps"])
        assert record["environment"]["versions"]["gnode"] == gnode.__version__
        assert [step["command"].split()[:2] for step in record["steps"]][-3:] == [
            ["gnode", "explore"],
            ["gnode", "demo"],
            ["gnode", "explore"],
        ]


def test_what_is_kept_of_a_line_names_no_place_of_the_machine(tmp_path):
    import environments

    environment = object.__new__(environments.Environment)
    environment.folder = tmp_path / "try"
    said = f"written {tmp_path}/try/work/demo/flow.png, see {ROOT}/docs and {Path.home()}/x"
    assert environment.without_places(said) == "written work/demo/flow.png, see docs and ~/x"
    index = environment.without_places("WARNING: Location 'file:///opt/index/six/' is ignored")
    assert index == "WARNING: Location 'a place of this machine' is ignored"
    assert environments.slug("Debian GNU/Linux 12 (bookworm)") == "debian-gnu-linux-12"


# ---- what others made


def test_packages_that_build_the_page_are_listed_as_they_are_locked():
    """Also those needed at run time, if there are any: they would be in the built script, and their licences with it."""
    package = json.loads((ROOT / "explorer" / "package.json").read_text())
    locked = json.loads((ROOT / "explorer" / "package-lock.json").read_text())["packages"]
    needed = package.get("dependencies", {}) | package["devDependencies"]
    for name in needed:
        entry = locked[f"node_modules/{name}"]
        assert row_of(f"`{name}`") == [f"`{name}`", entry["version"], entry["license"]]


def test_nothing_of_others_is_in_the_built_script():
    """What `THIRD_PARTY.md` says of the wheel: no package at run time, no import from outside, no notice of a licence."""
    package = json.loads((ROOT / "explorer" / "package.json").read_text())
    assert not package.keys() & {"dependencies", "optionalDependencies", "peerDependencies", "bundleDependencies"}
    for path in (ROOT / "explorer" / "src").rglob("*.ts"):
        named = r"""^(?:import\b|export\b(?=[^"';=]*\bfrom\b))[^"';]*["']([^"']+)["']"""
        for source in re.findall(named, path.read_text(), re.MULTILINE):
            assert source.startswith("."), f"{path.name} imports {source}"
    script = (ROOT / "gnode" / "explorer" / "assets" / "explorer.js").read_text()
    assert not re.search(r"@license|@preserve|/\*!|Copyright", script)


def test_data_sets_are_listed_with_their_licences():
    for data in DATASETS.values():
        assert row_of(f"`{data.name}`")[2] == data.licence


def test_licences_travel_in_the_wheel(contents):
    assert tuple(PROJECT["license-files"]) == contents.LICENCES


def test_packages_of_the_site_are_listed():
    """Each package of the extra `docs` of which something is served; those that only work are named here."""
    work_only = {"ipykernel", "pyspellchecker", "pillow", "torch"}
    for requirement in PROJECT["optional-dependencies"]["docs"]:
        name = re.match(r"[\w-]+", requirement)[0]
        if name not in work_only:
            assert re.search(rf"^\|.*\b{name}\b.*\|$", THIRD_PARTY, re.MULTILINE | re.IGNORECASE), name
