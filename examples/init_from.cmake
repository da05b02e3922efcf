# Trains twice with PROGRAM, in WORK. The second training starts with the weights of the first, so its first loss must be
# below the first loss of the first training.
file(REMOVE_RECURSE ${WORK})

# first_loss(RESULT flag...)
function(first_loss result)
  execute_process(COMMAND ${PROGRAM} --batch_size=16 ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  message(STATUS "output:\n${output}\nerrors:\n${errors}")
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "ended with ${code}")
  endif()
  if(NOT output MATCHES "loss from ([0-9.]+) to")
    message(FATAL_ERROR "the output shows no loss")
  endif()
  set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

first_loss(random --train_steps=40 --checkpoint_dir=${WORK}/checkpoints --log_dir=${WORK}/first)
first_loss(restored --train_steps=5 --init_from=${WORK}/checkpoints --log_dir=${WORK}/second)
if(NOT restored LESS random)
  message(FATAL_ERROR "the training began with the loss ${restored}, with random weights ${random}")
endif()
