"""The option --part=N of the checks that take long: only one of N parts of the files is checked, and the commit says which.
So CI finds a mistake after some commits, in a part of the time."""
import os
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def take_option(arguments):
    """Removes --part=N from the arguments and returns N; without the option, 1."""
    parts = [word for word in arguments if word.startswith("--part=")]
    arguments[:] = [word for word in arguments if word not in parts]
    return int(parts[0][7:]) if parts else 1


def part_of(files, parts):
    """Every file that this commit's turn covers."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=TOP, capture_output=True, text=True).stdout.strip()
    return files[int(commit[:8] or "0", 16) % parts :: parts]
