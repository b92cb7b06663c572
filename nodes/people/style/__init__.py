"""The style filter that makes any simulated user more like people (`--like SRC`): see `docs/users/style_filter.md`."""

from .learnt import REASON, StyleComparison
from .options import LikeOptions, parsed, paths_of
from .validator import PAGES, LikePeople, like

__all__ = ["PAGES", "REASON", "LikeOptions", "LikePeople", "StyleComparison", "like", "parsed", "paths_of"]
