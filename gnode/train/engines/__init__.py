"""How the members of a grid are trained: in threads, as one program on an accelerator, or on a Ray cluster."""

from gnode.train.engines.one_program import chunk_size as chunk_size
from gnode.train.engines.one_program import member_bytes as member_bytes
from gnode.train.engines.one_program import train_as_one as train_as_one
from gnode.train.engines.ray_cluster import train_on_ray as train_on_ray
from gnode.train.engines.threads import train_in_threads as train_in_threads
from gnode.train.engines.threads import workers_by_default as workers_by_default

ENGINES = {
    "auto": "one_program on an accelerator, threads on a CPU",
    "threads": "one network after another on each core",
    "one_program": "each group as one program along an axis of members, over all devices",
    "ray": "tasks on a Ray cluster (extra: gnode[ray])",
}
