"""The public names that mean the same in TensorFlow 1 and in TensorFlow 2, by module."""

__all__ = []

SAME = {
    "":
        "AggregationMethod Assert CriticalSection DType Graph IndexedSlices IndexedSlicesSpec Operation "
        "OptionalSpec RegisterGradient SparseTensor SparseTensorSpec Tensor TensorArray TensorArraySpec TensorShape "
        "TensorSpec TypeSpec UnconnectedGradients VariableSynchronization abs acos acosh add add_n argsort as_dtype "
        "as_string asin asinh atan atan2 atanh bfloat16 bitcast bool broadcast_dynamic_shape broadcast_static_shape "
        "broadcast_to cast clip_by_global_norm clip_by_norm clip_by_value complex complex128 complex64 concat "
        "control_dependencies conv cos cosh cumsum custom_gradient divide double dynamic_partition dynamic_stitch "
        "edit_distance einsum ensure_shape equal exp extract_volume_patches eye fill fingerprint "
        "float16 float32 float64 floor get_logger get_static_value grad_pass_through greater greater_equal group "
        "guarantee_const half histogram_fixed_width histogram_fixed_width_bins identity identity_n import_graph_def "
        "init_scope int16 int32 int64 int8 is_symbolic_tensor is_tensor less less_equal linspace load_op_library "
        "logical_and logical_not logical_or make_ndarray make_tensor_proto matmul matrix_square_root maximum "
        "meshgrid minimum multiply negative newaxis no_gradient no_op not_equal numpy_function one_hot ones "
        "parallel_stack pow print py_function range rank realdiv register_tensor_conversion_function repeat "
        "required_space_to_batch_paddings reshape resource reverse roll round saturate_cast scatter_nd searchsorted "
        "sequence_mask shape_n sigmoid sign sin sinh slice sort space_to_batch_nd split sqrt square stack "
        "stop_gradient strided_slice string subtract switch_case tan tanh tensor_scatter_nd_add "
        "tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update tensordot tile "
        "timestamp truediv truncatediv truncatemod type_spec_from_value uint16 uint32 uint64 uint8 unique "
        "unique_with_counts unravel_index unstack variant zeros",
    "bitwise":
        "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift",
    "data":
        "AUTOTUNE Options ThreadingOptions",
    "debugging":
        "Assert assert_proper_iterable assert_same_float_dtype check_numerics is_numeric_tensor",
    "dtypes":
        "DType as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64 half int16 int32 int64 "
        "int8 resource string uint16 uint32 uint64 uint8 variant",
    "errors":
        "ABORTED ALREADY_EXISTS AbortedError AlreadyExistsError CANCELLED CancelledError DATA_LOSS "
        "DEADLINE_EXCEEDED DataLossError DeadlineExceededError FAILED_PRECONDITION FailedPreconditionError INTERNAL "
        "INVALID_ARGUMENT InternalError InvalidArgumentError NOT_FOUND NotFoundError OK OUT_OF_RANGE OpError "
        "OutOfRangeError PERMISSION_DENIED PermissionDeniedError RESOURCE_EXHAUSTED ResourceExhaustedError "
        "UNAUTHENTICATED UNAVAILABLE UNIMPLEMENTED UNKNOWN UnauthenticatedError UnavailableError UnimplementedError "
        "UnknownError",
    "feature_column":
        "bucketized_column categorical_column_with_hash_bucket categorical_column_with_identity "
        "categorical_column_with_vocabulary_list crossed_column embedding_column indicator_column numeric_column "
        "sequence_categorical_column_with_hash_bucket sequence_categorical_column_with_identity "
        "sequence_categorical_column_with_vocabulary_file sequence_categorical_column_with_vocabulary_list "
        "sequence_numeric_column weighted_categorical_column",
    "graph_util":
        "import_graph_def",
    "image":
        "adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_jpeg_quality adjust_saturation "
        "central_crop combined_non_max_suppression convert_image_dtype crop_to_bounding_box decode_and_crop_jpeg "
        "decode_bmp decode_gif decode_image decode_jpeg decode_png encode_jpeg encode_png extract_jpeg_shape "
        "flip_left_right flip_up_down grayscale_to_rgb hsv_to_rgb image_gradients is_jpeg non_max_suppression "
        "non_max_suppression_overlaps non_max_suppression_padded non_max_suppression_with_scores "
        "pad_to_bounding_box per_image_standardization psnr random_brightness random_contrast random_crop "
        "random_flip_left_right random_flip_up_down random_hue random_jpeg_quality random_saturation "
        "resize_with_crop_or_pad rgb_to_grayscale rgb_to_hsv rgb_to_yiq rgb_to_yuv rot90 sobel_edges ssim "
        "ssim_multiscale total_variation transpose yiq_to_rgb yuv_to_rgb",
    "io":
        "FixedLenFeature FixedLenSequenceFeature SparseFeature TFRecordOptions TFRecordWriter VarLenFeature "
        "decode_and_crop_jpeg decode_base64 decode_bmp decode_compressed decode_gif decode_image decode_jpeg "
        "decode_json_example decode_png deserialize_many_sparse encode_base64 encode_jpeg encode_png "
        "extract_jpeg_shape is_jpeg match_filenames_once matching_files parse_sequence_example "
        "parse_single_sequence_example parse_tensor read_file serialize_tensor write_file write_graph",
    "io.gfile":
        "GFile copy exists get_registered_schemes glob isdir join listdir makedirs mkdir remove rename rmtree stat "
        "walk",
    "linalg":
        "LinearOperator LinearOperatorDiag LinearOperatorFullMatrix LinearOperatorIdentity "
        "LinearOperatorLowRankUpdate LinearOperatorLowerTriangular LinearOperatorScaledIdentity adjoint band_part "
        "cholesky cholesky_solve cross det eigh eigvalsh einsum expm eye global_norm inv l2_normalize logdet logm "
        "lstsq lu lu_matrix_inverse lu_reconstruct lu_solve matrix_rank matvec normalize pinv qr set_diag slogdet "
        "solve sqrtm svd tensor_diag tensordot triangular_solve tridiagonal_matmul tridiagonal_solve",
    "lookup":
        "KeyValueTensorInitializer TextFileIndex TextFileInitializer",
    "math":
        "accumulate_n add_n atan2 betainc cumprod cumsum cumulative_logsumexp equal floordiv greater greater_equal "
        "igamma igammac invert_permutation is_finite is_inf is_nan is_non_decreasing is_strictly_increasing "
        "l2_normalize lbeta less less_equal logical_and logical_not logical_or logical_xor nextafter not_equal "
        "polygamma polyval pow segment_max segment_mean segment_min segment_prod segment_sum softsign "
        "squared_difference subtract top_k truediv unsorted_segment_max unsorted_segment_mean unsorted_segment_min "
        "unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum xdivy xlog1py xlogy zero_fraction zeta",
    "nest":
        "assert_same_structure flatten is_nested map_structure pack_sequence_as",
    "nn":
        "all_candidate_sampler atrous_conv2d atrous_conv2d_transpose avg_pool1d avg_pool3d batch_normalization "
        "bias_add collapse_repeated compute_accidental_hits compute_average_loss conv1d_transpose conv_transpose "
        "ctc_greedy_decoder ctc_unique_labels depthwise_conv2d_backprop_filter depthwise_conv2d_backprop_input elu "
        "fixed_unigram_candidate_sampler l2_loss l2_normalize learned_unigram_candidate_sampler "
        "local_response_normalization log_poisson_loss lrn max_pool1d max_pool2d max_pool3d normalize_moments relu "
        "scale_regularization_loss selu softsign top_k with_space_to_batch zero_fraction",
    "quantization":
        "fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars "
        "fake_quant_with_min_max_vars_gradient fake_quant_with_min_max_vars_per_channel "
        "fake_quant_with_min_max_vars_per_channel_gradient quantize_and_dequantize",
    "random":
        "all_candidate_sampler categorical fixed_unigram_candidate_sampler fold_in gamma "
        "learned_unigram_candidate_sampler log_uniform_candidate_sampler normal shuffle split stateless_categorical "
        "stateless_gamma stateless_normal stateless_poisson stateless_truncated_normal stateless_uniform "
        "truncated_normal uniform uniform_candidate_sampler",
    "saved_model":
        "ASSETS_DIRECTORY ASSETS_KEY CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES "
        "CLASSIFY_OUTPUT_SCORES DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB DEFAULT_SERVING_SIGNATURE_DEF_KEY GPU "
        "PREDICT_INPUTS PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS REGRESS_METHOD_NAME REGRESS_OUTPUTS "
        "SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION SERVING TPU TRAINING "
        "VARIABLES_DIRECTORY VARIABLES_FILENAME",
    "sets":
        "difference intersection size union",
    "signal":
        "dct fft fft2d fft3d fftshift frame hamming_window hann_window idct ifft ifft2d ifft3d ifftshift "
        "inverse_stft inverse_stft_window_fn irfft irfft2d irfft3d linear_to_mel_weight_matrix "
        "mfccs_from_log_mel_spectrograms overlap_and_add rfft rfft2d rfft3d stft",
    "sparse":
        "SparseTensor cross cross_hashed expand_dims eye fill_empty_rows from_dense mask maximum minimum reorder "
        "reset_shape reshape retain slice softmax sparse_dense_matmul to_dense to_indicator transpose",
    "strings":
        "as_string format join lower regex_full_match regex_replace strip to_hash_bucket_fast to_hash_bucket_strong "
        "unicode_script unicode_transcode unsorted_segment_join upper",
    "sysconfig":
        "get_build_info get_compile_flags get_include get_lib get_link_flags",
    "test":
        "Benchmark TestCase benchmark_config create_local_cluster gpu_device_name is_built_with_cuda "
        "is_built_with_gpu_support is_built_with_rocm is_built_with_xla is_gpu_available main",
    "train":
        "BytesList ClusterDef ClusterSpec Coordinator Example ExponentialMovingAverage Feature FeatureList "
        "FeatureLists Features FloatList Int64List JobDef SequenceExample ServerDef checkpoints_iterator "
        "get_checkpoint_state latest_checkpoint list_variables load_checkpoint load_variable",
    "version":
        "COMPILER_VERSION GIT_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER "
        "GRAPH_DEF_VERSION_MIN_PRODUCER VERSION",
}
# TensorFlow has two functions for each of these names. TensorFlow 2's takes the first arguments of TensorFlow 1's.
_REDUCTIONS = ("reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum")
ALSO = {"": "constant " + _REDUCTIONS, "math": "log " + _REDUCTIONS, "nn": "leaky_relu"}
