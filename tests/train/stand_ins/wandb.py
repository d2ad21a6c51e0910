"""Stands for wandb 0.31: the parameters of what gnode calls, and a list of the calls."""

calls = []
KNOWN_SETTINGS = {"console", "silent"}


def init(
    entity=None,
    project=None,
    dir=None,
    id=None,
    name=None,
    notes=None,
    tags=None,
    config=None,
    config_exclude_keys=None,
    config_include_keys=None,
    allow_val_change=None,
    group=None,
    job_type=None,
    mode=None,
    force=None,
    reinit=None,
    resume=None,
    resume_from=None,
    fork_from=None,
    save_code=None,
    tensorboard=None,
    sync_tensorboard=None,
    monitor_gym=None,
    settings=None,
    anonymous=None,
):
    assert mode in ("online", "offline")
    assert reinit == "create_new"
    assert resume in (None, "allow")
    assert set(settings) <= KNOWN_SETTINGS
    calls.append(("init", project, mode, id, config))
    run = Run()
    run.id, run.summary = id or "made-up", {}
    return run


class Run:
    def log(self, data, step=None, commit=None):
        calls.append(("log", data, step))

    def finish(self, exit_code=None):
        calls.append(("finish", exit_code, dict(self.summary)))
