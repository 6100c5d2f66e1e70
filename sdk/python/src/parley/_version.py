"""The version of this package, which is also sent in User-Agent."""

__version__ = "0.1.4"
