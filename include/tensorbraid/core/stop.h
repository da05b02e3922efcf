// Ends a process in good order when its user, a launcher or systemd asks for it.
#ifndef TENSORBRAID_CORE_STOP_H_
#define TENSORBRAID_CORE_STOP_H_

namespace tensorbraid {

// From now on, the first SIGTERM or SIGINT (Ctrl-C) asks this process to stop instead of ending it:
//
// - ShouldStop() of training sessions and supervisors becomes true. When the program then closes them, the chief
//   saves a last checkpoint. A step that has not ended 5 s later, because it waits for a task that has left, is
//   cancelled.
// - A training session that still waits for other tasks, to begin or to recover, fails with Cancelled.
// - Server::Join returns once the working tasks have left, and at the latest after ServerOptions::stop_grace.
//
// A second signal ends the process at once, unless it comes within a second of the first one: supervisors often send a
// request twice. Call this at the start of main. Later calls have no effect. Thread-safe.
void StopOnSignals();

// Whether a signal has asked this process to stop. Thread-safe.
bool StopRequested();

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_STOP_H_
