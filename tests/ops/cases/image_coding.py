"""Rows of the ops that decode and encode image files."""
import struct
import zlib

import numpy as np
import tensorflow as tf


def picture(height, width, channels, dtype=np.uint8):
    """An image that is smooth except for one edge, like a photograph."""
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(channels), indexing="ij")
    v = 0.5 + 0.3 * np.sin(0.4 * x + c) * np.cos(0.3 * y - c) + 0.2 * (x + 2 * y > width)
    return (v * np.iinfo(dtype).max).astype(dtype)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, depth, color, rows, *extra, interlace=0):
    """A PNG file with these rows of bytes, unfiltered; `extra` are the chunks before the pixels."""
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace)
    pixels = b"".join(b"\0" + r for r in rows)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        [chunk(b"IHDR", header), *extra, chunk(b"IDAT", zlib.compress(pixels)), chunk(b"IEND", b"")])


def gif_frame(left, top, pixels, transparent=None, palette=None, interlace=False):
    height, width = pixels.shape
    out = b""
    if transparent is not None:
        out += b"\x21\xf9\x04\x01\x05\x00" + bytes([transparent]) + b"\x00"
    flags = (0x81 if palette else 0) | (0x40 if interlace else 0)
    out += b"\x2c" + struct.pack("<HHHHB", left, top, width, height, flags) + (palette or b"")
    order = range(height)
    if interlace:
        order = [y for first, step in ((0, 8), (4, 8), (2, 4), (1, 2)) for y in range(first, height, step)]
    # Codes of 3 bits for 4 colours; cleared so often that they never grow.
    codes = []
    for i, v in enumerate(np.concatenate([pixels[y] for y in order]).tolist()):
        if i % 2 == 0:
            codes.append(4)
        codes.append(v)
    bits = sum(c << (3 * i) for i, c in enumerate(codes + [5]))
    data = bits.to_bytes((3 * (len(codes) + 1) + 7) // 8, "little")
    out += b"\x02"
    for i in range(0, len(data), 255):
        out += bytes([len(data[i:i + 255])]) + data[i:i + 255]
    return out + b"\0"


def gif(width, height, *frames, palette=bytes(range(10, 130, 10))):
    flags = 0x81 if palette else 0
    return b"GIF89a" + struct.pack("<HHBBB", width, height, flags, 0, 0) + palette + b"".join(frames) + b";"


def bmp(width, height, bits, data, start=54):
    return (b"BM" + struct.pack("<IHHI", start + len(data) & 0xffffffff, 0, 0, start) +
            struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, 0, len(data), 0, 0, 0, 0) + data)


def png_cases(t):
    encode = lambda image: tf.io.encode_png(image).numpy()
    files = [encode(picture(5, 7, c)) for c in (1, 2, 3, 4)]
    files += [encode(picture(5, 7, c, np.uint16)) for c in (1, 2, 3, 4)]
    palette = chunk(b"PLTE", bytes(range(0, 240, 20)))
    indices = [bytes([0x1b, 0x40]), bytes([0xe4, 0x80])]
    files.append(png(5, 2, 2, 3, indices, palette))
    files.append(png(5, 2, 2, 3, indices, palette, chunk(b"tRNS", bytes([0, 128]))))
    for depth in (1, 2, 4):
        files.append(png(8, 2, depth, 0, [bytes(range(0x35, 0x35 + depth)), bytes([0x9c] * depth)]))
    files.append(png(2, 1, 8, 0, [bytes([7, 9])], chunk(b"tRNS", struct.pack(">H", 7))))
    files.append(png(2, 1, 8, 2, [bytes([7, 9, 1, 4, 5, 6])], chunk(b"tRNS", struct.pack(">HHH", 7, 9, 1))))
    for file in files:
        depth, has_transparency = file[24], b"tRNS" in file
        for channels in (0, 1, 3, 4):
            for op, d in (("DecodePng", tf.uint8), ("DecodePng", tf.uint16), ("DecodeImage", tf.float32)):
                expected = None
                if channels == 4 and depth < 8 and not has_transparency:
                    # TensorFlow's alpha channel has as few bits as the pixels of the file: it is nearly transparent.
                    rgb = tf.io.decode_image(file, channels=3, dtype=d).numpy()
                    opaque = np.full([*rgb.shape[:2], 1], 1 if d == tf.float32 else d.max, rgb.dtype)
                    expected = [np.concatenate([rgb, opaque], 2)]
                t.case(op, file, channels=channels, dtype=d, expected=expected)
    adam7 = png(2, 1, 8, 0, [bytes([3]), bytes([200])], interlace=1)  # a pixel of pass 1 and a pixel of pass 6
    t.case("DecodePng", adam7)
    good = files[2]
    t.case("DecodePng", good[:-20])
    t.case("DecodePng", good[:40])
    t.case("DecodePng", good[:20])
    t.case("DecodePng", good[:60] + bytes([good[60] ^ 0x55]) + good[61:])
    t.case("DecodePng", png(100000, 100000, 8, 2, [b"\0"]))
    t.case("DecodePng", png(0, 4, 8, 2, [b"\0"]))
    t.case("DecodePng", png(20000, 20000, 8, 0, [b"\0"]))
    t.case("DecodePng", b"")
    t.case("DecodePng", b"text")
    t.case("DecodePng", np.array([good, good], object))
    t.case("DecodePng", good, channels=2)
    t.case("DecodePng", good, channels=5)


def jpeg_cases(t):
    file = tf.io.encode_jpeg(picture(17, 23, 3)).numpy()
    grey = tf.io.encode_jpeg(picture(17, 23, 1)).numpy()
    full = tf.io.encode_jpeg(picture(17, 23, 3), chroma_downsampling=False, progressive=True).numpy()
    for f in (file, grey, full):
        for channels in (0, 1, 3):
            t.case("DecodeJpeg", f, channels=channels)
        for ratio in (2, 4, 8):
            t.case("DecodeJpeg", f, ratio=ratio)
        for method in ("INTEGER_FAST", "INTEGER_ACCURATE"):
            t.case("DecodeJpeg", f, dct_method=method)
        t.case("DecodeJpeg", f, fancy_upscaling=False)
        for d in (tf.uint8, tf.uint16, tf.float32):
            t.case("DecodeImage", f, dtype=d)
        for d in (tf.int32, tf.int64):
            t.case("ExtractJpegShape", f, output_type=d)
    for window in ([0, 0, 17, 23], [3, 5, 8, 9], [16, 22, 1, 1]):
        t.case("DecodeAndCropJpeg", grey, np.array(window, np.int32))
        t.case("DecodeAndCropJpeg", full, np.array(window, np.int32), channels=3)
    t.case("DecodeAndCropJpeg", grey, np.array([1, 2, 3, 4], np.int32), ratio=2)
    for window in ([3, 5, 15, 9], [3, 5, 8, 19], [-1, 0, 2, 2], [0, 0, 0, 5]):
        t.case("DecodeAndCropJpeg", file, np.array(window, np.int32))
    # TensorFlow ends the process for this window.
    t.case("DecodeAndCropJpeg", file, np.array([2**31 - 1, 0, 2, 2], np.int32), expected="INVALID_ARGUMENT")
    t.case("DecodeAndCropJpeg", file, np.array([0, 0, 5], np.int32))
    big = tf.io.encode_jpeg(picture(40, 40, 1)).numpy()
    for fraction in (1.0, 0.1):
        t.case("DecodeJpeg", big[:-60], acceptable_fraction=fraction)
    t.case("DecodeJpeg", file[:100])
    t.case("DecodeJpeg", file[:4])
    t.case("ExtractJpegShape", file[:30])
    t.case("ExtractJpegShape", b"")
    t.case("DecodeJpeg", file, channels=4)
    t.case("DecodeJpeg", file, ratio=3)
    t.case("DecodeJpeg", file, dct_method="FAST")
    huge = file.replace(struct.pack(">HH", 17, 23), struct.pack(">HH", 65500, 65500))
    t.case("DecodeJpeg", huge)


def gif_cases(t):
    rng = np.random.RandomState(1)
    first = gif_frame(0, 0, rng.randint(0, 4, (4, 5)))
    part = gif_frame(1, 2, rng.randint(0, 4, (2, 3)), transparent=2)
    own = gif_frame(0, 1, rng.randint(0, 4, (3, 5)), palette=bytes(range(100, 220, 10)), interlace=True)
    one, three = gif(5, 4, first), gif(5, 4, first, part, own)
    # Frames outside of the screen, and a first frame that is smaller than the image.
    outside = gif(5, 4, first, gif_frame(4, 3, rng.randint(0, 4, (4, 5))), gif_frame(900, 900, rng.randint(0, 4, (2, 2))))
    small = gif(5, 4, gif_frame(1, 1, rng.randint(0, 4, (2, 2)), transparent=1), first)
    for f in (one, three, outside, small):
        t.case("DecodeGif", f)
        t.case("DecodeImage", f)
        t.case("DecodeImage", f, expand_animations=False)
        t.case("DecodeImage", f, dtype=tf.float32, channels=3)
        t.case("DecodePng", f)
        t.case("DecodeJpeg", f)
    t.case("DecodeImage", one, channels=1)
    t.case("DecodeGif", three[:-30])
    t.case("DecodeGif", one[:-12])
    t.case("DecodeGif", one[:20])
    t.case("DecodeGif", one[:8])
    t.case("DecodeGif", gif(5, 4))
    t.case("DecodeGif", gif(5, 4, first, palette=b""))
    t.case("DecodeGif", gif(60000, 60000, b"\x2c" + struct.pack("<HHHHB", 0, 0, 60000, 60000, 0) + b"\x02\x01\x04\x00"))


def bmp_cases(t):
    rng = np.random.RandomState(2)
    for bits, height in ((8, 2), (24, 3), (32, 2), (24, -3), (32, -2)):
        row = (3 * bits // 8 + 3) // 4 * 4
        file = bmp(3, height, bits, rng.bytes(row * abs(height)))
        for channels in (0, 3, 4):
            t.case("DecodeBmp", file, channels=channels)
            t.case("DecodeImage", file, channels=channels)
            # TensorFlow crashes if the dtype is another.
            pixels = tf.io.decode_bmp(file, channels).numpy()
            t.case("DecodeImage", file, channels=channels, dtype=tf.uint16, expected=[pixels.astype(np.uint16) * 256])
            t.case("DecodeImage", file, channels=channels, dtype=tf.float32, expected=[pixels / np.float32(255)])
        t.case("DecodeBmp", file, channels=1)
        t.case("DecodeBmp", file[:-6])
    good = bmp(3, 2, 24, rng.bytes(24))
    for op in ("DecodePng", "DecodeJpeg", "DecodeGif"):
        t.case(op, good)
    t.case("DecodeBmp", good[:30])
    for bad in (bmp(0, 2, 24, b""), bmp(3, 0, 24, b""), bmp(-3, 2, 24, b""), bmp(3, 2, 16, bytes(60)),
                bmp(100000, 100000, 24, b"0")):
        t.case("DecodeBmp", bad)
    # TensorFlow ends the process for these files.
    for bad in (bmp(2**31 - 1, -2**31, 32, b""), bmp(3, 2, 24, bytes(24), start=-5 & 0xffffffff)):
        t.case("DecodeBmp", bad, expected="INVALID_ARGUMENT")
    for op in ("DecodeBmp", "DecodeGif", "DecodeJpeg"):
        for file in (tf.io.encode_png(picture(3, 3, 3)).numpy(), tf.io.encode_jpeg(picture(3, 3, 3)).numpy()):
            t.case(op, file)
    t.case("DecodeAndCropJpeg", tf.io.encode_png(picture(3, 3, 3)).numpy(), np.array([0, 0, 1, 1], np.int32))


def encode_cases(t):
    for channels in (1, 2, 3, 4):
        for d in (np.uint8, np.uint16):
            t.case("EncodePng", picture(6, 5, channels, d))
    for level in (0, 1, 9):
        t.case("EncodePng", picture(6, 5, 3), compression=level)
    t.case("EncodePng", np.stack([picture(6, 5, 3), picture(6, 5, 3)[::-1]]))
    t.case("EncodePng", picture(6, 5, 3), compression=10)
    t.case("EncodePng", picture(6, 5, 5))
    t.case("EncodePng", picture(6, 5, 3)[0])
    # TensorFlow ends the process for an empty image.
    t.case("EncodePng", np.zeros([0, 5, 3], np.uint8), expected="INVALID_ARGUMENT")
    t.case("EncodePng", np.zeros([2, 5, 0, 3], np.uint8), expected="INVALID_ARGUMENT")
    t.case("EncodePng", np.zeros([0, 2, 2, 3], np.uint8))
    for channels, format in ((1, ""), (3, ""), (1, "grayscale"), (3, "rgb"), (3, "grayscale"), (1, "rgb"), (4, ""), (2, "")):
        t.case("EncodeJpeg", picture(17, 9, channels), format=format)
    for quality in (0, 1, 50, 100, 101, -1):
        t.case("EncodeJpeg", picture(17, 9, 3), quality=quality)
        t.case("EncodeJpegVariableQuality", picture(17, 9, 3), np.int32(quality))
    t.case("EncodeJpeg", picture(17, 9, 3), progressive=True)
    t.case("EncodeJpeg", picture(17, 9, 3), optimize_size=True)
    t.case("EncodeJpeg", picture(17, 9, 3), chroma_downsampling=False)
    t.case("EncodeJpeg", picture(17, 9, 3), density_unit="cm", x_density=100, y_density=150)
    t.case("EncodeJpeg", picture(17, 9, 3), xmp_metadata="<x:xmpmeta/>")
    t.case("EncodeJpeg", picture(17, 9, 3)[0])
    t.case("EncodeJpeg", np.zeros([0, 5, 3], np.uint8), expected="INVALID_ARGUMENT")
    t.case("EncodeJpegVariableQuality", picture(17, 9, 3), np.array([50], np.int32))


def add_cases(t):
    png_cases(t)
    jpeg_cases(t)
    gif_cases(t)
    bmp_cases(t)
    encode_cases(t)
