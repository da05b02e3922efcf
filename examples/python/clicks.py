"""Shared code of the examples that train on a log of clicks."""

import os

import numpy as np


def auc(scores, clicked):
    """The probability that a line with a click has a higher score than one without."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores, kind="stable")] = np.arange(1, len(scores) + 1)
    clicks = clicked.sum()
    return (ranks[clicked == 1].sum() - clicks * (clicks + 1) / 2) / (clicks * (len(scores) - clicks))


def print_auc(session, test, rows):
    """Prints the number of rows, and the AUC on the first lines of the test. `test` gives scores and clicks."""
    found = [session.run_step_fn(lambda step_context: step_context.session.run(test)) for _ in range(5)]
    scores, clicked = (np.concatenate(values) for values in zip(*found))
    count = session.run_step_fn(lambda step_context: step_context.session.run(rows))
    print("%d rows in the tables, test AUC %.3f" % (count, auc(scores, clicked)))


def write_log(path, lines, logit, clicked):
    """Writes the first sixth of the lines to PATH.test.csv and the others to PATH.train.csv.

    `logit` is the log-odds of each click by the model that made the log, so its AUC is the best that is possible.
    """
    test = len(lines) // 6
    for name, part in (("train", lines[test:]), ("test", lines[:test])):
        own = "%s.%s.csv.%d" % (path, name, os.getpid())
        with open(own, "w") as file:
            file.writelines(part)
        os.rename(own, "%s.%s.csv" % (path, name))  # other workers may be making the same file
    print("the best AUC on the test lines is %.3f" % auc(logit[:test], clicked[:test]))


def exists(path):
    """Whether there is a log."""
    return all(os.path.exists("%s.%s.csv" % (path, name)) for name in ("train", "test"))
