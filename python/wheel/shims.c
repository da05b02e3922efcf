// What static libraries of a wheel use of other libraries that are not in it; see build_dependencies.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Copies of variables of the C library. libpng and libjpeg print warnings to stderr; functions of ICU that are not called
// read the time zone.
FILE* tensorbraid_stderr;
long tensorbraid_timezone;
char* tensorbraid_tzname[2] = {"UTC", "UTC"};

__attribute__((constructor(101))) static void CopyVariables(void) { tensorbraid_stderr = stderr; }

// What std::call_once stores for its call of pthread_once.
__thread void* tensorbraid_once_callable;
__thread void (*tensorbraid_once_call)(void);

void tensorbraid_once_proxy(void) { tensorbraid_once_call(); }

// What LAPACK uses of Fortran's library. Strings of Fortran have a length and are filled up with blanks.
static void CopyString(size_t size, char* to, size_t from_size, const char* from) {
  const size_t n = from_size < size ? from_size : size;
  memcpy(to, from, n);
  memset(to + n, ' ', size - n);
}

void _gfortran_concat_string(size_t size, char* to, size_t a_size, const char* a, size_t b_size, const char* b) {
  CopyString(size, to, a_size, a);
  if (a_size < size) CopyString(size - a_size, to + a_size, b_size, b);
}

// LAPACK calls this function when an argument is wrong, which is an error of the caller's code. It never returns.
void xerbla_(const char* routine, const int* argument, size_t routine_size) {
  fprintf(stderr, "%.*s: argument %d is wrong\n", (int)routine_size, routine, *argument);
  abort();
}

// The library asks OpenMP for one thread in each of its own, and the oneDNN of a wheel has no other.
int omp_get_max_threads(void) { return 1; }

void omp_set_num_threads(int threads) {
  if (threads > 1) fprintf(stderr, "oneDNN runs on one thread here, not on %d\n", threads);
}
