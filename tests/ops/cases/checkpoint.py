"""Rows of the checkpoint ops that touch no files."""
import numpy as np

SCALAR = np.int32


def add_cases(t):
    t.case("ShardedFilename", np.array("dir/model", object), SCALAR(3), SCALAR(5))
    t.case("ShardedFilename", np.array("", object), SCALAR(0), SCALAR(1))
    t.case("ShardedFilename", np.array("model", object), SCALAR(123456), SCALAR(-5))
    t.case("ShardedFilename", np.array(["model"], object), SCALAR(3), SCALAR(5))
    t.case("ShardedFilename", np.array("model", object), np.array([3], SCALAR), SCALAR(5))
    t.case("ShardedFilename", np.array("model", object), SCALAR(3), np.array([5], SCALAR))
    t.case("ShardedFilespec", np.array("dir/model", object), SCALAR(5))
    t.case("ShardedFilespec", np.array(["model"], object), SCALAR(5))
    t.case("ShardedFilespec", np.array("model", object), np.array([5], SCALAR))
