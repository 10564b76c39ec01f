"""Unpacking LZF, the compression of .pcd files."""

EXPANSION = 100  # no block unpacks to more than so many times its size: three bytes stand for at most 264


def decompress(packed: bytes, size: int) -> bytes:
    """Unpack a block that is known to hold `size` bytes; ValueError where it does not.

    A control byte below 32 is followed by so many literal bytes and one more. Any other holds, in its upper three bits,
    the length of a repetition less 2 (7: the next byte adds to it) and, in the other five with the byte after, how far
    back it begins.
    """
    out = bytearray()
    position, end = 0, len(packed)
    try:
        while position < end and len(out) <= size:
            control = packed[position]
            position += 1
            if control < 32:
                out += packed[position : position + control + 1]
                position += control + 1
                continue
            length = control >> 5
            if length == 7:
                length += packed[position]
                position += 1
            back = ((control & 31) << 8) + packed[position] + 1
            position += 1
            _repeat(out, back, length + 2)
    except IndexError as error:
        raise ValueError("the block ends in the middle of an instruction") from error
    if len(out) != size or position != end:
        raise ValueError(f"the block does not hold {size} bytes")
    return bytes(out)


def _repeat(out: bytearray, back: int, length: int) -> None:
    """Append `length` bytes that stand `back` bytes before the end; they may overlap what is being appended."""
    start = len(out) - back
    if start < 0:
        raise ValueError("a repetition reaches back before the beginning")
    piece = out[start : start + length]
    out += (piece * (length // len(piece) + 1))[:length]
