"""Images as users handle them: files, sizes, colours, boxes, augmentation."""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


def _photos(count, height=24, width=30):
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(3), indexing="ij")
    return np.stack([127 + 90 * np.sin(0.2 * x + c + i) * np.cos(0.15 * y - i) for i in range(count)]).astype(np.uint8)


def files(s):
    contents = tf1.placeholder(tf.string, [])
    with tf.device(s.worker(1)):
        decoders = {"png": tf.io.decode_png(contents), "grey": tf.io.decode_png(contents, channels=1),
                    "wide": tf.io.decode_png(contents, dtype=tf.uint16), "jpeg": tf.io.decode_jpeg(contents),
                    "half": tf.io.decode_jpeg(contents, ratio=2, dct_method="INTEGER_ACCURATE"),
                    "any": tf.io.decode_image(contents), "real": tf.io.decode_image(contents, dtype=tf.float32)}
        encoded = {"png": tf.io.encode_png(_photos(1)[0]), "jpeg": tf.io.encode_jpeg(_photos(1)[0], quality=80)}
    # Encoded files are compared by their pixels, because libraries may compress in different ways.
    for kind, file in encoded.items():
        s.run(tf.io.decode_image(file))
        bytes_of = s.session.run(file)
        for decoder in decoders.values():
            s.run(decoder, {contents: bytes_of})
        s.run(decoders[kind], {contents: bytes_of[:50]})
    s.run(decoders["any"], {contents: b"no image"})
    s.run(tf.io.extract_jpeg_shape(encoded["jpeg"]))
    s.run(tf.io.decode_and_crop_jpeg(encoded["jpeg"], [2, 3, 10, 12], channels=1))


def sizes(s):
    photos = tf.constant(_photos(2), tf.float32)
    for method in ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]:
        s.run(tf.image.resize(photos, [17, 41], method), tolerance=1e-3)
        s.run(tf.image.resize(photos, [50, 20], method, antialias=True), tolerance=1e-3)
    for method in [tf1.image.ResizeMethod.BILINEAR, tf1.image.ResizeMethod.NEAREST_NEIGHBOR,
                   tf1.image.ResizeMethod.BICUBIC, tf1.image.ResizeMethod.AREA]:
        s.run(tf1.image.resize_images(photos, [17, 41], method, align_corners=True), tolerance=1e-3)
        s.run(tf1.image.resize_images(tf.constant(_photos(1)[0]), [17, 41], method), tolerance=1e-3)
    s.run(tf.image.resize(photos, [0, 4]))
    s.run(tf.image.resize_with_pad(photos, 40, 40), tolerance=1e-3)
    s.run(tf.image.resize_with_crop_or_pad(photos, 40, 12))
    s.run(tf.image.crop_to_bounding_box(photos, 2, 3, 10, 11))
    s.run(tf.image.central_crop(photos, 0.5))
    boxes = tf.constant([[0.1, 0.2, 0.8, 0.9], [0.9, 0.9, 0.1, 0.0], [-0.2, 0.3, 1.1, 0.7]])
    crops = tf.image.crop_and_resize(photos, boxes, [0, 1, 1], [7, 9])
    s.run(crops, tolerance=1e-3)
    s.run(tf.image.crop_and_resize(photos, boxes, [0, 1, 2], [7, 9]))
    s.run(tf1.gradients(crops, [photos, boxes]), tolerance=1e-2)
    for method in ["bilinear", "nearest", "bicubic", "lanczos3"]:
        s.run(tf1.gradients(tf.image.resize(photos, [17, 41], method) ** 2, photos), tolerance=1e-2)
    s.run(tf.image.extract_patches(photos, [1, 3, 4, 1], [1, 2, 2, 1], [1, 1, 2, 1], "SAME"))
    s.run(tf1.gradients(tf.image.extract_patches(photos, [1, 3, 4, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"), photos))


def colours(s):
    photos = tf.image.convert_image_dtype(_photos(2), tf.float32)
    s.run(photos)
    for result in [tf.image.adjust_brightness(photos, 0.2), tf.image.adjust_contrast(photos, 1.7),
                   tf.image.adjust_hue(photos, 0.3), tf.image.adjust_saturation(photos, 0.6),
                   tf.image.adjust_gamma(photos, 0.8), tf.image.rgb_to_hsv(photos),
                   tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(photos)), tf.image.rgb_to_grayscale(photos),
                   tf.image.rgb_to_yuv(photos), tf.image.per_image_standardization(photos)]:
        s.run(result, tolerance=1e-4)
    for result in [tf.image.adjust_contrast(_photos(1), 0.5), tf.image.adjust_hue(_photos(1), -0.2)]:
        s.run(tf.cast(result, tf.float32), tolerance=2e-2)  # a pixel may be rounded in another direction
    s.run(tf1.gradients(tf.image.rgb_to_hsv(photos), photos), tolerance=1e-3)


def turns(s):
    photos = _photos(2)
    for result in [tf.image.flip_left_right(photos), tf.image.flip_up_down(photos), tf.image.rot90(photos, 3),
                   tf.image.transpose(photos)]:
        s.run(result)
    s.run(tf.raw_ops.ImageProjectiveTransformV3(
        images=photos.astype(np.float32), transforms=[[0.9, -0.3, 4.0, 0.3, 0.9, -2.0, 0.0, 0.0]],
        output_shape=[24, 30], interpolation="BILINEAR", fill_mode="REFLECT", fill_value=0.0), tolerance=1e-2)


def boxes(s):
    random = np.random.RandomState(4)
    corners = random.rand(30, 2)
    all_boxes = np.concatenate([corners, corners + 0.3 * random.rand(30, 2)], 1).astype(np.float32)
    scores = random.rand(30).astype(np.float32)
    count = tf1.placeholder(tf.int32, [])
    with tf.device(s.worker(0)):
        kept = tf.image.non_max_suppression(all_boxes, scores, count, 0.3, 0.2)
        gathered = tf.gather(all_boxes, kept)
        soft = tf.image.non_max_suppression_with_scores(all_boxes, scores, count, soft_nms_sigma=0.5)
    for n in [0, 5, 100]:
        s.run([gathered, *soft], {count: n})
    s.run(kept, {count: -1})
    s.run(tf.image.combined_non_max_suppression(all_boxes.reshape(1, 30, 1, 4), random.rand(1, 30, 3).astype(np.float32),
                                                5, 10))
    s.run(tf.image.draw_bounding_boxes(_photos(2).astype(np.float32), all_boxes.reshape(2, 15, 4), [[9.0, 8.0, 7.0]]))


def random_augmentation(s):
    tf1.set_random_seed(21)
    photo = tf.constant(_photos(1)[0])
    for result in [tf.image.random_crop(photo, [10, 12, 3]), tf.image.random_flip_left_right(photo),
                   tf.image.random_flip_up_down(tf.constant(_photos(4)))]:
        s.run(result)
        s.run(result)
    real = tf.image.convert_image_dtype(photo, tf.float32)
    for result in [tf.image.random_brightness(real, 0.3), tf.image.random_contrast(real, 0.5, 1.5),
                   tf.image.random_hue(real, 0.2), tf.image.random_saturation(real, 0.5, 1.5)]:
        s.run(result, tolerance=1e-4)
    objects = tf.constant([[[0.1, 0.2, 0.6, 0.7]]])
    sample = tf.image.sample_distorted_bounding_box([24, 30, 3], objects, seed=5, min_object_covered=0.3)
    s.run(list(sample))
    s.run(list(sample))
    s.run(tf.image.stateless_random_crop(photo, [10, 12, 3], [1, 2]))
    s.run(list(tf.image.stateless_sample_distorted_bounding_box([24, 30, 3], objects, [1, 2])))
