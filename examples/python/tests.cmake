# The Python examples with few steps. _core, the module of the package, must be built.
set(python ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_BINARY_DIR}/python ${TENSORBRAID_PYTHON_CACHE})
set(interpreter ${PROJECT_BINARY_DIR}/python_venv/bin/python)

# tensorbraid_python_example_test(NAME EXPECTED PROGRAM [LAUNCH option...] [FLAGS flag...]): with LAUNCH, the program
# runs as a cluster.
function(tensorbraid_python_example_test name expected program)
  cmake_parse_arguments(ARG "" "" "LAUNCH;FLAGS" ${ARGN})
  if(ARG_LAUNCH)
    set(prefix ${launch} ${ARG_LAUNCH} --)
  endif()
  tensorbraid_example_test(python_${name}_example "${expected}"
                           ${python} ${prefix} ${interpreter} examples/python/${program}.py ${ARG_FLAGS})
endfunction()
tensorbraid_python_example_test(mnist_softmax "test accuracy 0\\.(9|8[89])" mnist_softmax FLAGS --train_steps=300)
tensorbraid_python_example_test(mnist_softmax_sync "test accuracy 0\\.(9|8[89])" mnist_softmax LAUNCH --ps=2 --workers=2
                                FLAGS --train_steps=200 --issync)
tensorbraid_python_example_test(mnist_softmax_async "test accuracy 0\\.(9|8[89])" mnist_softmax LAUNCH --ps=1 --workers=2
                                FLAGS --train_steps=600)
tensorbraid_python_example_test(mnist_cnn "loss from 2\\.[0-9]+ to 0\\.[0-9]+, test accuracy 0\\.[89]" mnist_cnn
                                FLAGS --train_steps=60 --test_images=1000)
tensorbraid_python_example_test(resnet_images "loss from [23]\\.[0-9]+ to [01]\\.[0-9]+, test accuracy [01]\\." resnet_images
                                FLAGS --train_steps=25 --batch_size=16 --test_images=50 --num_devices=2)
tensorbraid_python_example_test(resnet_images_sync "images/s.*test accuracy [01]\\." resnet_images LAUNCH --ps=1 --workers=2
                                FLAGS --train_steps=8 --batch_size=16 --test_images=20 --issync --fixed_batch)
set(lines "loss from [2-9][0-9]\\.[0-9]+ to ([0-9]|1[0-7])\\.[0-9]+, sequence accuracy [01]\\.")
tensorbraid_python_example_test(crnn_ctc "${lines}" crnn_ctc FLAGS --train_steps=40 --batch_size=8 --test_lines=100)
tensorbraid_python_example_test(crnn_ctc_sync "${lines}" crnn_ctc LAUNCH --ps=1 --workers=2
                                FLAGS --train_steps=30 --batch_size=8 --test_lines=100 --issync)
# The loss of new weights is about 100. How much of its fall the chief sees depends on the other worker.
tensorbraid_python_example_test(word2vec "loss from [0-9]+\\.[0-9]+ to [3-8]\\." word2vec LAUNCH --ps=2 --workers=2
                                FLAGS --train_steps=1500)
tensorbraid_python_example_test(image_folder "loss from 2\\.[0-9]+ to [01]\\.[0-9]+, test accuracy (1|0\\.[5-9])" image_folder
                                FLAGS --train_steps=60 --make_count=600 --make_from=examples/data/mnist
                                --images=${CMAKE_CURRENT_BINARY_DIR}/digits)
tensorbraid_python_example_test(wide_deep_tables "rows in the tables, test AUC 0\\.7[3-9]" wide_deep_tables
                                FLAGS --train_steps=400 --make_lines=20000 --log=${CMAKE_CURRENT_BINARY_DIR}/clicks)
tensorbraid_python_example_test(wide_deep_tables_async "rows in the tables, test AUC 0\\.7[3-9]" wide_deep_tables
                                LAUNCH --ps=2 --workers=2
                                FLAGS --train_steps=600 --make_lines=20000 --log=${CMAKE_CURRENT_BINARY_DIR}/clicks_async)
tensorbraid_python_example_test(din_async "rows in the tables, test AUC 0\\.(7[2-9]|8)" din LAUNCH --ps=2 --workers=2
                                FLAGS --train_steps=500 --make_lines=20000 --learning_rate=0.02
                                --log=${CMAKE_CURRENT_BINARY_DIR}/interests)
