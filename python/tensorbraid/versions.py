"""The version of TensorFlow whose API the package has, and of graphs."""

__all__ = ["VERSION", "GIT_VERSION", "COMPILER_VERSION", "GRAPH_DEF_VERSION", "__compiler_version__", "__git_version__",
           "__version__"]

VERSION = __version__ = "1.15.0"
GIT_VERSION = __git_version__ = "tensorbraid"
COMPILER_VERSION = __compiler_version__ = "C++20"
GRAPH_DEF_VERSION = 1395  # the producer that the graphs name
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
