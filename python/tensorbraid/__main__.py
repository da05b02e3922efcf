import sys

from tensorbraid.runner.main import main

sys.exit(main())
