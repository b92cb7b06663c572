"""For who puts `examples` on the path: `airline:cast` is then this folder's."""

from .airline import DOMAIN, cast

__all__ = ["DOMAIN", "cast"]
