"""What came out: the selection, and a picture of the data that it rests on."""

from .pictures import Picture, Shape, take_picture
from .selection import Selection
from .trends import Trends, find_trends

__all__ = ["Picture", "Selection", "Shape", "Trends", "find_trends", "take_picture"]
