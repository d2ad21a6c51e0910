"""Stands for tensorboardX 2.6: the parameters of what gnode calls, and a list of the calls."""

calls = []


class SummaryWriter:
    def __init__(
        self,
        logdir=None,
        comment="",
        purge_step=None,
        max_queue=10,
        flush_secs=120,
        filename_suffix="",
        write_to_disk=True,
        log_dir=None,
        comet_config=None,
    ):
        calls.append(("open", logdir, purge_step))

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, display_name="", summary_description=""):
        assert isinstance(tag, str)
        assert isinstance(scalar_value, float)
        calls.append((tag, scalar_value, global_step))

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        assert isinstance(text_string, str)
        calls.append((tag, text_string))

    def add_hparams(self, hparam_dict, metric_dict, name=None, global_step=None):
        assert all(isinstance(value, bool | int | float | str) for value in hparam_dict.values())
        calls.append(("hparams", hparam_dict, metric_dict))

    def close(self):
        calls.append(("close",))
