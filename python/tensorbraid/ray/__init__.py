"""Trainings on a Ray cluster: each task of the job is an actor, in a placement group (docs/clusters/ray.md).

    import tensorbraid as tf
    import tensorbraid.ray

    def train(steps):
        task = tf.train.find_task()
        server = task.server()
        if task.job_name == "ps":
            server.join()
        ...
        return loss

    results = tensorbraid.ray.run(train, args=(1000,), ps=1, workers=4)
    print(results["worker/0"])

Needs Ray on the driver (`pip install ray`), and Ray and this package on the nodes. `tensorbraid launch --on=ray` starts
other programs; the module `tensorbraid.ray.agents` starts the agents for it.
"""

from tensorbraid.ray.functions import run
from tensorbraid.ray.task_errors import TaskError, TaskLostError

__all__ = ["TaskError", "TaskLostError", "run"]
