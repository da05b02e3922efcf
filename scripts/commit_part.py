#!/usr/bin/env python3
"""The option --part=N of the checks that take long: only one of N parts of the files is checked, and the commit says which.
So CI finds a mistake after some commits, in a part of the time. As a program, `commit_part.py N` prints the commit's part
of N, such as 2/3."""
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def take_option(arguments):
    """Removes --part=N from the arguments and returns N; without the option, 1."""
    parts = [word for word in arguments if word.startswith("--part=")]
    arguments[:] = [word for word in arguments if word not in parts]
    return int(parts[0][7:]) if parts else 1


def number_of(parts):
    """The number of this commit's part, from 0."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=TOP, capture_output=True, text=True).stdout.strip()
    return int(commit[:8] or "0", 16) % parts


def part_of(files, parts):
    """Every file that this commit's turn covers."""
    return files[number_of(parts) :: parts]


if __name__ == "__main__":
    print(f"{number_of(int(sys.argv[1])) + 1}/{sys.argv[1]}")
