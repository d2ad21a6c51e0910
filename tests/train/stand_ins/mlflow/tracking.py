import re
from types import SimpleNamespace

from mlflow import calls, experiments
from mlflow.entities import Metric, Param


class MlflowClient:
    def __init__(self, tracking_uri=None, registry_uri=None, workspace_store_uri=None):
        calls.append(("open", tracking_uri))

    def get_experiment_by_name(self, name):
        return experiments.get(name)

    def create_experiment(self, name, artifact_location=None, tags=None):
        experiments[name] = SimpleNamespace(experiment_id=str(len(experiments)))
        return experiments[name].experiment_id

    def create_run(self, experiment_id, start_time=None, tags=None, run_name=None):
        assert experiment_id in [one.experiment_id for one in experiments.values()]
        calls.append(("create_run", run_name))
        return SimpleNamespace(info=SimpleNamespace(run_id="made-up"))

    def update_run(self, run_id, status=None, name=None):
        calls.append(("update_run", run_id, status))

    def log_batch(self, run_id, metrics=(), params=(), tags=(), synchronous=None):
        assert len(params) <= 100
        assert all(isinstance(one, Param) and isinstance(one.value, str) for one in params)
        assert all(isinstance(one, Metric) and re.fullmatch(r"[\w./ -]+", one.key) for one in metrics)
        assert all(isinstance(one.timestamp, int) for one in metrics)
        assert 0 < len(metrics) + len(params) <= 1000
        calls.append((run_id, list(metrics), dict(params)))

    def get_metric_history(self, run_id, key):
        return [one for call in calls if call[0] == run_id for one in call[1] if one.key == key]

    def set_tag(self, run_id, key, value, synchronous=None):
        calls.append(("tag", key, value))

    def set_terminated(self, run_id, status=None, end_time=None):
        assert status in ("FINISHED", "KILLED")
        calls.append(("set_terminated", status))
