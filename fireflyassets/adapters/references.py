"""Reference pictures made plain: deep, CMYK, turned and palette pictures as vendors expect them.

Belongs here: the conversions, each without loss that a person would see, and the refusal of the
rest. Does not: judging pictures (``adapters/pillow.py``). A 16-bit grey picture turns white where
its values are cut instead of scaled, and a CMYK one loses its colours without its profile.
"""

import io
from typing import Final

from PIL import Image, ImageCms, ImageOps

from fireflyassets.ports.pictures import Normal, Seen, Unreadable

_PLAIN: Final = frozenset({"L", "RGB", "RGBA"})
_PALETTES: Final = frozenset({"1", "LA", "P", "PA"})
_DEEP: Final = frozenset({"I;16", "I;16B", "I;16L", "I"})
_EXIF_ORIENTATION: Final = 0x0112
_STEP: Final = 257
"""65,535 / 255: values of 16 bits for one of 8."""
_PNG: Final = b"\x89PNG"
_PNG_DEPTH_AT: Final = 24
_DEEP_PNG: Final = 16


def normal(content: bytes, seen: Seen) -> Normal | Unreadable:
    """Return a picture that was decoded before, as it is or converted to a PNG."""
    with Image.open(io.BytesIO(content)) as picture:
        turned = picture.getexif().get(_EXIF_ORIENTATION, 1) != 1
        frames = getattr(picture, "n_frames", 1)
        if frames != 1:
            return Unreadable(f"it holds {frames} pictures; send the one that is meant")
        deep = content.startswith(_PNG) and content[_PNG_DEPTH_AT] == _DEEP_PNG
        plain_already = picture.mode in _PLAIN and not turned and not deep
        if plain_already and seen.media_type != "image/tiff":
            return Normal(content, seen.media_type, seen.width, seen.height)
        profile: bytes | None = picture.info.get("icc_profile")
        converted = _converted(picture, profile)
        if isinstance(converted, Unreadable):
            return converted
        plain, changes, profile = converted
        if turned:
            plain = ImageOps.exif_transpose(_with_orientation(plain, picture))
            changes = (*changes, "turned upright")
        target = io.BytesIO()
        plain.save(target, "PNG", icc_profile=profile)
        return Normal(target.getvalue(), "image/png", *plain.size, changes or ("saved as PNG",))


def _converted(
    picture: Image.Image, profile: bytes | None
) -> tuple[Image.Image, tuple[str, ...], bytes | None] | Unreadable:
    """Return the picture in a plain mode, what was done, and the profile it keeps."""
    mode = picture.mode
    if mode in _PLAIN:
        return picture.copy(), (), profile
    if mode in _DEEP:
        return _shallow(picture), ("16 bits scaled to 8",), profile
    if mode in _PALETTES:
        plain = "RGBA" if "A" in mode or "transparency" in picture.info else "RGB"
        return picture.convert(plain), (f"{mode} to {plain}",), None
    if mode == "CMYK":
        if profile is None:
            return Unreadable("it is CMYK without a profile: nobody knows its colours; embed one")
        return _to_srgb(picture, profile)
    return Unreadable(f"its mode {mode} is not supported; save it as 8-bit RGB")


def _shallow(picture: Image.Image) -> Image.Image:
    """Return a deep grey picture over the full range of 8 bits."""
    # On these modes the library takes linear functions only, and cuts what a byte does not hold.
    return picture.convert("I").point(lambda value: value * (1 / _STEP) + 0.5).convert("L")


def _to_srgb(
    picture: Image.Image, profile: bytes
) -> tuple[Image.Image, tuple[str, ...], bytes | None] | Unreadable:
    plain = ImageCms.createProfile("sRGB")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - the library leaves it untyped.
    srgb = ImageCms.ImageCmsProfile(plain)  # pyright: ignore[reportUnknownArgumentType] - as above.
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        made = ImageCms.profileToProfile(picture, source, srgb, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError):
        return Unreadable("its colour profile can't be read; embed it again")
    if made is None:
        return Unreadable("its colours can't be converted; save it as sRGB")
    return made, ("CMYK to sRGB",), srgb.tobytes()


def _with_orientation(plain: Image.Image, picture: Image.Image) -> Image.Image:
    plain.getexif()[_EXIF_ORIENTATION] = picture.getexif()[_EXIF_ORIENTATION]
    return plain
