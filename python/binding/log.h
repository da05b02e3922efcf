// The log lines of the library in a Python program: they go to the logger "tensorflow" of Python's logging.
#ifndef TENSORBRAID_PYTHON_BINDING_LOG_H_
#define TENSORBRAID_PYTHON_BINDING_LOG_H_

namespace tensorbraid::python {

// Calls Python's logger for the lines that threads of the library have written since the last call. Cheap if there are
// none. Call it with Python's lock and without a lock of the library, where C++ returns to Python or calls it: so the
// handlers of the program run on the program's own thread, and the lines have their place among those of the program.
// If another thread is passing lines on, waits for it, for up to a second. Never raises an error.
void PassLogLines();

}  // namespace tensorbraid::python

#endif  // TENSORBRAID_PYTHON_BINDING_LOG_H_
