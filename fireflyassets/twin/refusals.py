"""Why a document or an edit cannot be rendered.

Belongs here: the errors of the renderer, each a fact about what the caller sent. Does not:
which HTTP answer they become.

    ValueError
      UnreadableDocument   the PSD is corrupt, truncated, or not a PSD
      UnreadablePicture    the picture for a slot cannot be decoded
      UnknownLayer         no layer, or more than one, answers to the name or id
      WrongLayerKind       a picture for a text layer, or the other way round
      TextOverflow         the text does not fit its box
      MissingGlyphs        no bundled font has a character of the text
      MissingFont          the layer's font is not bundled
"""


class UnreadableDocument(ValueError):
    """The document is corrupt, truncated, or not a PSD."""


class UnreadablePicture(ValueError):
    """The picture for a slot cannot be decoded."""


class UnknownLayer(ValueError):
    """No layer of the document answers to the name or id, or more than one does."""


class WrongLayerKind(ValueError):
    """The layer exists, but cannot take what the edit brings."""


class TextOverflow(ValueError):
    """The text does not fit the layer's box at the layer's size."""


class MissingGlyphs(ValueError):
    """No bundled font can draw a character of the text."""


class MissingFont(ValueError):
    """The layer's font is not among the bundled ones."""
