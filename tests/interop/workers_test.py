#!/usr/bin/env python3
"""Tests of workers.py: every item is done or is named as not done, however the processes end."""
import os
import select
import signal
import subprocess
import unittest

from workers import share


def run(items, serve, count=2):
    """What was reported, in order, and what share() returned."""
    reported = []
    undone = share(items, count, serve, reported.append)
    return sorted(reported), undone


class Share(unittest.TestCase):
    def test_each_item_is_done_once(self):
        def serve(items, report):
            for item in items:
                report(item * 10)

        self.assertEqual(run(range(7), serve), ([0, 10, 20, 30, 40, 50, 60], []))
        self.assertEqual(run([], serve), ([], []))

    def test_a_crash_leaves_its_item_undone_and_the_others_do_the_rest(self):
        def serve(items, report):
            for item in items:
                if item == 2:
                    os.kill(os.getpid(), signal.SIGSEGV)
                report(item)

        self.assertEqual(run(range(6), serve), ([0, 1, 3, 4, 5], [(2, "its process ended with -11")]))

    def test_a_process_that_exits_with_an_item_leaves_it_undone(self):
        def serve(items, report):
            for item in items:
                os._exit(0)

        self.assertEqual(run(range(2), serve, count=1),
                         ([], [(0, "its process ended with 0"), (1, "no process is left")]))

    def test_a_failure_after_the_last_item_belongs_to_no_item(self):
        def serve(items, report):
            for item in items:
                report(item)
            os._exit(3)

        self.assertEqual(run(range(3), serve, count=1), ([0, 1, 2], [(None, "its process ended with 3")]))

    def test_what_a_crashed_process_has_started_ends_with_it(self):
        ours, theirs = os.pipe()

        def serve(items, report):
            for _ in items:
                child = subprocess.Popen(["sleep", "60"], pass_fds=[theirs])
                os._exit(1)  # with the child alive

        self.assertEqual(run([0], serve, count=1), ([], [(0, "its process ended with 1")]))
        os.close(theirs)
        self.assertEqual(select.select([ours], [], [], 10)[0], [ours])  # no process holds the other end any more
        os.close(ours)


if __name__ == "__main__":
    unittest.main()
