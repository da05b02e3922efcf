// Passes the log lines of the library to Python's logger "tensorflow".
#ifndef TENSORBRAID_PYTHON_BINDING_LOG_H_
#define TENSORBRAID_PYTHON_BINDING_LOG_H_

namespace tensorbraid::python {

// Passes the lines that threads of the library have written since the last call to Python's logger. Cheap if there are
// none. REQUIRES: Python's lock, and no lock of the library. Called where C++ returns to Python or calls it: so the
// program's handlers run on the program's own thread, and its own lines and those of the library keep their order.
// If another thread is passing lines on, waits up to a second for it. Never raises an error.
void PassLogLines();

}  // namespace tensorbraid::python

#endif  // TENSORBRAID_PYTHON_BINDING_LOG_H_
