#include "cli/program.h"

int main(int argc, char** argv) { return tensorbraid::RunProgram(argc, argv, TENSORBRAID_VERSION); }
