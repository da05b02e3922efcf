# tensorbraid_add_op_library(NAME FILE...): a library of custom ops, libNAME.so, for LoadOpLibrary, `tensorbraid serve
# --load` and tf.load_op_library. It is compiled like a program that uses tensorbraid::tensorbraid, but not linked with it:
# the program that loads the library has Tensorbraid already, and a second copy of it would do harm.
function(tensorbraid_add_op_library name)
  add_library(${name}_objects OBJECT ${ARGN})
  set_target_properties(${name}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
  target_link_libraries(${name}_objects PRIVATE tensorbraid::tensorbraid)
  add_library(${name} MODULE $<TARGET_OBJECTS:${name}_objects>)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX PREFIX lib)
endfunction()
