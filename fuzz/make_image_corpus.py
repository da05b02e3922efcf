#!/usr/bin/env python3
"""Writes corpus/image: the image files in the rows of the op tests (tests/ops/references/image_coding.jsonl), once each.
Those of up to 400 bytes suffice. A file is named after its format and the hash of its bytes."""
import hashlib
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
FORMATS = {b"\x89PNG": "png", b"\xff\xd8": "jpeg", b"GIF8": "gif", b"BM": "bmp"}


def name_of(data):
    formats = [name for magic, name in FORMATS.items() if data.startswith(magic)]
    return f"{formats[0] if formats else 'none'}_{hashlib.sha1(data).hexdigest()[:8]}"


def main():
    out = f"{HERE}/corpus/image"
    os.makedirs(out, exist_ok=True)
    with open(f"{HERE}/../tests/ops/references/image_coding.jsonl") as rows:
        for line in rows:
            row = json.loads(line)
            contents = row["inputs"][0]
            if not row["op"].startswith("Decode") or contents["dtype"] != "string":
                continue
            for value in contents["values"]:
                data = bytes.fromhex(value["hex"]) if isinstance(value, dict) else value.encode()
                if 8 < len(data) <= 400:
                    with open(f"{out}/{name_of(data)}", "wb") as file:
                        file.write(data)


if __name__ == "__main__":
    main()
