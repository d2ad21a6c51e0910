"""Two processes that run commands, shared by the quick tests of a session: to start one takes seconds."""

import pytest
from fault_tools import Worker


@pytest.fixture(scope="session")
def shared_workers(tmp_path_factory):
    home = tmp_path_factory.mktemp("workers")
    workers = [Worker(home), Worker(home)]
    yield workers
    for worker in workers:
        worker.close()


@pytest.fixture
def two_workers(shared_workers):
    """Both at work: one that an earlier test has killed is started again."""
    for place, worker in enumerate(shared_workers):
        if worker.process.poll() is not None:
            shared_workers[place] = Worker(worker.home)
    return shared_workers
