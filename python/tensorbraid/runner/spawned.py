"""The main module of a process that multiprocessing starts anew, with the methods "spawn" and "forkserver".

Such a process imports the main module of the program, under another name, and then the function that it is to call. It
begins with this module instead, so that the process finds the package as the program does.
"""

import json
import sys

from tensorbraid.runner import main

globals().update(main.names_of_spawned(*json.loads(sys.argv.pop(1))))
