"""What came out: the selection, and a picture of the data that it rests on."""

from .pictures import Picture, Shape, take_picture
from .selection import Selection

__all__ = ["Picture", "Selection", "Shape", "take_picture"]
