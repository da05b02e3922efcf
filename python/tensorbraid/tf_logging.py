"""tf.logging: messages to the logger "tensorflow" of Python's logging, which writes to stderr.

The lines of the C++ library go to the same logger. Lines of the area "train", which come from hooks, savers and
training sessions, obey the logger's level. Other lines, such as those of servers, are like those that TensorFlow's C++
writes: they are shown from INFO on, until the program sets a level.
"""

import logging as _logging
import os as _os
import sys as _sys
import threading as _threading

from tensorbraid import _core

__all__ = []

DEBUG = _logging.DEBUG
INFO = _logging.INFO
WARN = _logging.WARNING
ERROR = _logging.ERROR
FATAL = _logging.CRITICAL

_PACKAGE = _os.path.dirname(_os.path.abspath(__file__)) + _os.sep
_counts = {}
_lock = _threading.Lock()


class _Formatter(_logging.Formatter):
    def format(self, record):
        """Formats a record. Lines outside of the area "train" keep the library's form, with time and task."""
        return getattr(record, "native_line", None) or super().format(record)


def _make_logger():
    logger = _logging.getLogger("tensorflow")
    if logger.level == _logging.NOTSET:
        logger.setLevel(WARN)
    if not logger.handlers and not _logging.getLogger().handlers:  # otherwise the program has configured logging
        handler = _logging.StreamHandler(_sys.stderr)
        handler.setFormatter(_Formatter(_logging.BASIC_FORMAT))
        logger.addHandler(handler)
        logger.propagate = False
    return logger


_level_is_set = _logging.getLogger("tensorflow").level != _logging.NOTSET
_logger = _make_logger()


def get_logger():
    """The logger of Python that all messages go to."""
    return _logger


def get_verbosity():
    """The lowest level that is logged."""
    return _logger.getEffectiveLevel()


def set_verbosity(v):
    """Hides the messages below this level, which is a number or a name of Python's logging."""
    global _level_is_set
    _logger.setLevel(v)
    _level_is_set = True


def _lowest_level(area):
    """The lowest level at which the library's lines of an area are logged."""
    level = _logger.getEffectiveLevel()
    if _level_is_set or level != WARN:
        return level
    if "TENSORBRAID_LOG" in _os.environ:  # the library itself filters its lines by this variable
        return DEBUG
    return WARN if area == "train" else INFO


def _write_native_line(level, area, message, line):
    """Logs a line of the library. `line` is `message` with time and task in the library's form."""
    if level < _lowest_level(area) or level <= _logger.manager.disable:
        return
    is_train = area == "train"
    record = _logger.makeRecord(_logger.name, level, area, 0, message if is_train else f"{area}: {message}", (), None)
    if not is_train:
        record.native_line = line
    _logger.handle(record)


_core.pass_log_to(_write_native_line, _lowest_level)


def log(level, msg, *args, **kwargs):
    """Logs a message of this level."""
    _logger.log(level, msg, *args, **kwargs)


def debug(msg, *args, **kwargs):
    """Logs a message for finding errors."""
    _logger.debug(msg, *args, **kwargs)


def info(msg, *args, **kwargs):
    """Logs a message."""
    _logger.info(msg, *args, **kwargs)


def warning(msg, *args, **kwargs):
    """Logs a warning."""
    _logger.warning(msg, *args, **kwargs)


warn = warning


def error(msg, *args, **kwargs):
    """Logs an error."""
    _logger.error(msg, *args, **kwargs)


def fatal(msg, *args, **kwargs):
    """Logs at the level FATAL. As in TensorFlow, the program goes on."""
    _logger.critical(msg, *args, **kwargs)


def vlog(level, msg, *args, **kwargs):
    """Logs a message of this level."""
    _logger.log(level, msg, *args, **kwargs)


def TaskLevelStatusMessage(msg):
    """Logs an error."""
    _logger.error(msg)


def flush():
    """Passes on what the handlers of the logger keep back."""
    for handler in _logger.handlers:
        handler.flush()


def _calls():
    """How often this line of the program has been here before."""
    frame = _sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    place = (frame.f_code.co_filename, frame.f_lineno)
    with _lock:
        count = _counts.get(place, 0)
        _counts[place] = count + 1
    return count


def log_every_n(level, msg, n, *args):
    """Logs the first call of this line, and then each n-th."""
    log_if(level, msg, _calls() % n == 0, *args)


def log_first_n(level, msg, n, *args):
    """Logs the first n calls of this line."""
    log_if(level, msg, _calls() < n, *args)


def log_if(level, msg, condition, *args):
    """Logs a message if the condition is true."""
    if condition:
        log(level, msg, *args)
