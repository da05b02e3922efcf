#!/usr/bin/env python3
"""Writes corpus/image: the image files in the rows of the op tests (tests/ops/references/image_coding.jsonl), once each.
Those of up to 400 bytes suffice."""
import hashlib
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))


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
                    with open(f"{out}/{hashlib.sha1(data).hexdigest()[:12]}", "wb") as file:
                        file.write(data)


if __name__ == "__main__":
    main()
