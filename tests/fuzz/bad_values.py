"""Values that no option takes: bad numbers, texts and lists, from a fixed seed."""

HUGE = ["2147483648", "4611686018427387904", "9223372036854775808", "18446744073709551616", str(10**30), "9" * 5001]
"""Whole numbers above what any count may be; all but the first are above what a seed may be, too."""
NOT_WHOLE = [
    "nan",
    "inf",
    "-inf",
    "1e20",
    "1e400",
    "1.5",
    "0x10",
    "1e3",
    "1/2",
    "²",
    "-1",
    "-2147483649",
    str(-(10**30)),
]
NOT_FINITE = ["nan", "inf", "-inf", "1e400", "-1e400", "9" * 5001, "NaN", "Infinity"]
NOT_POSITIVE = ["-1", "-0.5", "-1e-300", str(-(10**30))]
BEYOND_FLOAT32 = ["1e39", "1e300", "-1e39", str(10**200)]

ODD = [
    "",
    " ",
    "nonsense",
    "[/red]",
    "[link=x]",
    "[bold]",
    "$5_{$",
    "h\N{LATIN SMALL LETTER E WITH ACUTE}llo-\N{GREEK CAPITAL LETTER OMEGA}-\N{CJK UNIFIED IDEOGRAPH-6F22}",
    "\N{PILE OF POO}",
    "\x1b[31m",
    "two\nlines",
    "many\n\n\n\nlines",
    "a\tb\rc",
    "\x07\x08\x7f",
    "\udcff\udcfe",
    "x" * 300,
    "y" * 5000,
    "\N{GREEK SMALL LETTER ALPHA}" * 300,
    "None",
    "{}",
    "%s %d {0}",
    "*",
    "'\"",
    "\\",
    "a,b",
    "-",
]
"""Texts that are no number, no name and no list of them."""

BAD_WIDTHS = [
    "0",
    "-1",
    "3x",
    "x",
    "x3",
    "3xx4",
    "3x-1",
    "3.5",
    "axb",
    "1e3",
    "4x2147483648",
    "nan",
    "99999x99999x99999",
]
BAD_STAGES = [
    "14",
    "@",
    "14@",
    "@3",
    "2@1+",
    "+",
    "2@-1",
    "0@1",
    "a@b",
    "1@2@3",
    "2@1.5",
    "2@1++3@1",
    "9" * 5001 + "@1",
]
BAD_SPANS = ["1:", ":", "a:b", "nan:1", "1:inf", "1:2:3", "2:1", "-1:1", "1", "1::2"]
BAD_STARTS = ["1:", ":", "a:b", "nan", "inf:1", "1:2:3", "1::2"]
BAD_TRUTHS = ["maybe", "2", "ye", "on off", "yes no"]
BAD_LISTS = [",", "1,", ",1", "1,,2", "1,x", "1;2", "1 2", "1,nan", "inf,1", "1," + "9" * 5001]
BAD_PARTS = ["0/2", "3/2", "1", "/", "1/", "/2", "a/b", "1/2/3", "-1/2", "1.5/2", "1/0", "²/3", "1/" + "9" * 5001]
BAD_SEARCHES = ["nonsense", "lr,nonsense", "seed", "task", "[/red]", "x" * 300]
BAD_SEARCH_WITH = [
    "epochs",
    "=",
    "=3",
    "epochs=",
    "epochs=x",
    "nonsense=3",
    "epochs=1e20",
    "seed=1",
    "lr=nan",
    "[/red]=1",
]

SEEDS = {"seed", "data_seed"}
NEGATIVE = {"lambda_ou", "baseline"}
SINGLE = {"lr", "weight_decay", "penalty", "state_penalty", "clip", "tau", "bias_std", "dt"}
SINGLE |= {"kinetic", "jacobian_norm", "higher_derivatives", "solver_cost", "stiffness"}
"""Numbers that a network is trained with, in single precision."""
UNBOUNDED = {"clip"}
"""Numbers that may be infinite."""
FREE = {"skip", "trial_column", "label_column", "time_column"}
"""Texts that may be anything, or that name what is in a file."""
TEXTS = {
    "depths": BAD_LISTS + HUGE + NOT_WHOLE + ["0"],
    "units": BAD_LISTS + HUGE + NOT_WHOLE + ["0"],
    "lengths": BAD_LISTS + HUGE + NOT_WHOLE + ["0", "5,3"],
    "hidden": BAD_LISTS + HUGE + NOT_WHOLE + ["0"],
    "layers": BAD_LISTS + HUGE + NOT_WHOLE,
    "margins": BAD_LISTS + NOT_FINITE,
    "sigma_z": BAD_LISTS + NOT_FINITE + NOT_POSITIVE,
    "tau": BAD_LISTS + NOT_FINITE + NOT_POSITIVE + ["0"],
    "lr": BAD_LISTS + NOT_FINITE + NOT_POSITIVE + ["0"],
    "weight_decay": BAD_LISTS + NOT_FINITE + NOT_POSITIVE,
    "state": BAD_LISTS + HUGE + NOT_WHOLE + ["0"],
    "widths": BAD_WIDTHS + HUGE,
    "part": BAD_PARTS,
    "search": BAD_SEARCHES,
    "search_with": BAD_SEARCH_WITH,
    "models": ["gru,", ",gru", "gru,,gnode", "gru,nonsense", "gru;gnode", "gru gnode"],
    "only": ["nonsense", ",", "a,,b", "[/red]"],
    "sha256": ["abc", "z" * 64, "0" * 63],
}
"""Bad values, beside the odd texts, of options that are texts to the command line but lists to the command."""

BAD_FOLDERS = [
    "file.txt",
    "file.txt/below",
    "missing/" + "\N{GREEK SMALL LETTER ALPHA}" * 200,
    "n" * 256,
    "empty/" + "m" * 300,
    "d/" * 2500,
    "/dev/null",
    "/dev/null/x",
    "/proc/nope",
    "/proc/nope/deeper",
    "",
]
"""Places where no folder can be made."""
BAD_FILES = [
    *(name for name in BAD_FOLDERS if name not in ("file.txt", "/dev/null")),
    ".",
    "empty",
    "..",
    "/",
    "[/red]",
]
"""Places where no file can be made."""
OCCUPIED = {"train": ["run", "[link=x]run"], "sweep run": ["sweep", "[/red]sweep"], "demo": ["run", "[link=x]run"]}
"""Folders that hold something already."""
NO_RUN = [
    *BAD_FOLDERS,
    "missing",
    "missing/" * 200,
    "empty",
    "/",
    "[/red]",
    "[bold]missing",
    "missing[/]",
    "own.npz",
    "\udcff",
]
"""Places that hold no run, sweep or result."""


def near(name: str, choose) -> str:
    """Returns a name with one letter wrong: left out, doubled or changed."""
    place = choose.randrange(len(name))
    return name[:place] + choose.choice(["", name[place] * 2, "q"]) + name[place + 1 :]


def is_number(text: str) -> bool:
    """Whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
