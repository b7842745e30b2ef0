#!/usr/bin/env python3
"""Write the files of this folder: three words, width 4, numbers done by hand.

Every number below is also in README.md; nothing here computes attention.
"""
import json
import math
from pathlib import Path
from struct import pack

HERE = Path(__file__).resolve().parent
LN2 = math.log(2)

WORDS = ["the", "cat", "sleeps"]
X = [[1, 0, 0, 1],
     [0, 1, 0, 1],
     [0, 0, 1, 1]]
WEIGHTS = {
    "W_Q": [[2, -1, 0, 0],
            [0, -1, 2, 0],
            [0, 2, 0, 0],
            [0, 1, 0, 0]],
    "W_K": [[LN2, 0, 0, 0],
            [0, 2 * LN2, LN2, -LN2],
            [0, 0, LN2, 0],
            [0, 0, 0, LN2]],
    "W_V": [[4, 0, 0, 0],
            [0, 4, 0, 0],
            [0, 0, 4, 0],
            [0, 0, 0, 1]]}
ATTENTION = [[[0.5, 0.25, 0.25],
              [0.2, 0.4, 0.4],
              [0.1, 0.8, 0.1]]]
OUTPUT = [[2.0, 1.0, 1.0, 1.0],
          [0.8, 1.6, 1.6, 1.0],
          [0.4, 3.2, 0.4, 1.0]]


def shape(value):
    return [len(value), *shape(value[0])] if isinstance(value, list) else []


def floats(value):
    if isinstance(value, list):
        return b"".join(map(floats, value))
    return pack("<f", value)


def write_npy(name, value):
    header = str({"descr": "<f4", "fortran_order": False,
                  "shape": tuple(shape(value))}).encode()
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    (HERE / name).write_bytes(
        b"\x93NUMPY\x01\x00" + pack("<H", len(header)) + header + floats(value))


def write_safetensors(name, tensors, metadata):
    header, data = {"__metadata__": metadata}, b""
    for key, value in tensors.items():
        begin, data = len(data), data + floats(value)
        header[key] = {"dtype": "F32", "shape": shape(value),
                       "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (HERE / name).write_bytes(pack("<Q", len(text)) + text + data)


(HERE / "tokens.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
write_npy("x.npy", X)
write_npy("attention.npy", ATTENTION)
write_npy("output.npy", OUTPUT)
write_safetensors("layer.safetensors", WEIGHTS, {"num_attention_heads": "1"})
