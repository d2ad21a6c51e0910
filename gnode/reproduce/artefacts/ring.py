"""The ring two-bit flip-flop task with two initial targets (Appendix F.6, figure-s5).

Shows: flow fields of the best gnODE with N = 2 when the target before the first pulse is (A) (0, 0) and (B) (2, 0).

Command: gnode reproduce run ring --scale paper
Cost at paper scale: 2 x 81 networks of 200 epochs, about 6 minutes on one H200; smoke: about 30 s on two cores.

Published: validation MSE 8.345e-5 (A) and 0.007 (B); A looks like the disk, B more like a ring.
"""

from gnode.reproduce import flip_flop, selection, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, Trained
from gnode.reproduce.evidence import Decided, Evidence

PANELS = {"ring-from-0": ("a", "8.345e-5"), "ring-from-2": ("b", "0.007")}


def analyse(trained: Trained) -> Outcome:
    numbers, runs, speeds, details = [], {}, {}, {}
    for task, (panel, published) in PANELS.items():
        sweep = trained[f"two-bit-{task}"]
        numbers.append(
            selection.mean_over_seeds(
                f"gnODE, N = 2, {task}: minimum validation MSE", selection.lowest_losses(sweep), published
            )
        )
        run = sweep.load(selection.best_member(sweep))
        runs[panel] = run
        slow = flip_flop.slow_set(run)
        details[task] = None if slow is None else slow.summary()
        speeds[task] = flip_flop.speed_by_radius(run)
    details["speeds"] = speeds
    return Outcome(numbers, judge(Evidence.fresh(numbers, details)), flip_flop.flow_figures(runs, {}), details)


LIKE_A_DISK = "With the target starting at (0, 0) the flow is like the disk's: its middle is slow as well."
LIKE_A_RING = "With (2, 0) it is more like a ring: its middle is faster than with (0, 0)."


def judge(found: Evidence) -> list[Claim]:
    def speeds(task: str, was: str) -> dict[str, float]:
        return found.details["speeds"][task] if "speeds" in found.details else found.detail("speeds", was=was)

    def disk() -> Decided:
        from_0 = speeds("ring-from-0", LIKE_A_DISK)
        return verdicts.plainly(flip_flop.has_no_hole(from_0)), from_0

    def ring() -> Decided:
        from_0, from_2 = speeds("ring-from-0", LIKE_A_DISK), speeds("ring-from-2", LIKE_A_RING)
        return verdicts.plainly(from_2["speed inside"] > from_0["speed inside"]), from_2

    return [
        found.decide(LIKE_A_DISK, disk),
        found.decide(LIKE_A_RING, ring),
        flip_flop.continuous_attractor(found, "ring-from-0", "ring"),
    ]


CAPTIONS = {
    "a": "The flow of the best gnODE whose target before the first pulse is (0, 0). Colour is the speed: compare "
    "panels by the scale beside each; white lines are streamlines, thin grey ones ten validation trials.",
    "b": "That of the best gnODE whose target begins at (2, 0). Colour is the speed: compare panels by the scale "
    "beside each; white lines are streamlines, thin grey ones ten validation trials.",
}


ARTEFACT = Artefact(
    name="ring",
    kind="figure",
    title="Flow fields of the ring task",
    place="Appendix F.6, figure-s5",
    scales={"smoke": "30 s on two cores", "paper": "6 min on one H200"},
    plans=lambda scale: [flip_flop.two_bit(task, scale) for task in PANELS],
    analyse=analyse,
    judge=judge,
    captions=CAPTIONS,
)
