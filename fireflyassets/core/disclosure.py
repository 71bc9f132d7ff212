"""The disclosure in a file: who made the picture, in the words of IPTC and XMP.

Belongs here: the XMP packet, and putting it into a JPEG or a PNG without touching a pixel.
Does not: which files are marked (``stages/deliver.py``), decoding (``adapters/pillow.py``).

Sources: XMP part 3 (2020) for the containers; IPTC Photo Metadata 2025.1 for the properties; IPTC
NewsCodes for the source types. The library for it that is kept, python-xmp-toolkit, needs the C
library exempi. A signed Content Credentials manifest covers each byte of its file, so that it
would no longer hold of a file with one more: it is left out, and stays in the archived original.
"""

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from xml.sax.saxutils import quoteattr

_NEWSCODES: Final = "http://cv.iptc.org/newscodes/digitalsourcetype/"
_JPEG: Final = b"\xff\xd8"
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_XMP: Final = b"http://ns.adobe.com/xap/1.0/\0"
_REPLACED: Final = (_XMP, b"http://ns.adobe.com/xmp/extension/\0")
"""What an APP1 segment of XMP begins with."""
_LEAD, _APP0, _APP1, _APP11, _START_OF_SCAN = 0xFF, 0xE0, 0xE1, 0xEB, 0xDA
_PNG_XMP: Final = b"XML:com.adobe.xmp\0"
_FRAME: Final = 12
"""Bytes of a PNG chunk around its content: length, kind and sum."""
_SEGMENT_LIMIT: Final = 65_533
"""Bytes of a JPEG segment behind its length."""
_TYPE: Final = re.compile(rb'Iptc4xmpExt:DigitalSourceType="([^"]+)"')


class SourceType(StrEnum):
    """IPTC's digital source types that a rendition may have."""

    GENERATED = f"{_NEWSCODES}trainedAlgorithmicMedia"
    COMPOSITE = f"{_NEWSCODES}compositeWithTrainedAlgorithmicMedia"


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What a file says of itself. Prompts are not told: files leave the house."""

    creative_id: str
    source: SourceType | None
    """None where nothing in it was generated."""
    model: str | None

    def packet(self) -> bytes:
        """Return the XMP packet; the same disclosure gives the same bytes."""
        said = {"dc:identifier": self.creative_id, "xmp:CreatorTool": "fireflyassets"}
        if self.source:
            said["Iptc4xmpExt:DigitalSourceType"] = self.source.value
            said["Iptc4xmpExt:AISystemUsed"] = "Adobe Firefly"
            if self.model:
                said["Iptc4xmpExt:AISystemVersionUsed"] = self.model
        properties = "".join(f"\n   {name}={quoteattr(value)}" for name, value in said.items())
        return (
            '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n'
            '<x:xmpmeta xmlns:x="adobe:ns:meta/">\n'
            ' <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n'
            '  <rdf:Description rdf:about=""\n'
            '   xmlns:dc="http://purl.org/dc/elements/1.1/"\n'
            '   xmlns:xmp="http://ns.adobe.com/xap/1.0/"\n'
            '   xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"'
            f"{properties}/>\n"
            " </rdf:RDF>\n</x:xmpmeta>\n"
            '<?xpacket end="r"?>'
        ).encode()


def source_type(packet: bytes) -> SourceType | None:
    """Return the source type that a packet of ours names."""
    found = _TYPE.search(packet)
    return SourceType(found[1].decode()) if found else None


def marked(content: bytes, packet: bytes) -> bytes:
    """Return a JPEG or PNG with *packet* as its only XMP, its pixels as they are.

    Raises:
        ValueError: It is neither, or ends in its head.
    """
    if content.startswith(_JPEG):
        return _marked_jpeg(content, packet)
    if content.startswith(_PNG):
        return _marked_png(content, packet)
    raise ValueError("only a JPEG or a PNG can say who made it")


def _marked_jpeg(content: bytes, packet: bytes) -> bytes:
    body = _XMP + packet
    if len(body) > _SEGMENT_LIMIT:
        raise ValueError("the XMP is longer than a segment")
    ours = struct.pack(">BBH", _LEAD, _APP1, len(body) + 2) + body
    first, rest = [_JPEG], list[bytes]()
    for marker, segment in _segments(content):
        said = segment[4:]
        is_xmp = marker == _APP1 and said.startswith(_REPLACED)
        if is_xmp or marker == _APP11:
            continue
        # JFIF and Exif want to be the first ones, in this order.
        is_head = marker in {_APP0, _APP1} and not rest
        (first if is_head else rest).append(segment)
    return b"".join([*first, ours, *rest])


def _segments(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield marker and bytes of each segment; the last one is the scans, to the end."""
    at = len(_JPEG)
    while True:
        while content[at : at + 2] == b"\xff\xff":
            at += 1  # Any marker may have fill bytes before it.
        try:
            lead, marker, length = struct.unpack_from(">BBH", content, at)
        except struct.error:
            raise ValueError("it ends before its pixels") from None
        if lead != _LEAD:
            raise ValueError("its head is damaged")
        if marker == _START_OF_SCAN:
            yield marker, content[at:]
            return
        yield marker, content[at : at + 2 + length]
        at += 2 + length


def _marked_png(content: bytes, packet: bytes) -> bytes:
    chunks = [
        (kind, chunk)
        for kind, chunk in _chunks(content)
        if kind != b"caBX" and not (kind == b"iTXt" and chunk[8:].startswith(_PNG_XMP))
    ]
    if not chunks or chunks[0][0] != b"IHDR":
        raise ValueError("its head is damaged")
    # Not compressed, no language, no translated keyword: as the XMP specification asks.
    said = b"iTXt" + _PNG_XMP + b"\0\0\0\0" + packet
    ours = struct.pack(">I", len(said) - 4) + said + struct.pack(">I", zlib.crc32(said))
    (_, head), *rest = chunks
    return b"".join([_PNG, head, ours, *(chunk for _, chunk in rest)])


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield kind and bytes of each chunk, its length and its sum included, to the last."""
    at, kind = len(_PNG), b""
    while kind != b"IEND":
        length = int.from_bytes(content[at : at + 4])
        kind, chunk = content[at + 4 : at + 8], content[at : at + _FRAME + length]
        if len(chunk) < _FRAME + length:
            raise ValueError("it ends in the middle")
        yield kind, chunk
        at += len(chunk)
