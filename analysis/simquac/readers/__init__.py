"""Reading comprehension over QuAC and SimQuAC: readers, their scores, and training on one to test on the other.

Table 7 of "Let the LLMs Talk" (WSDM 2024). A reader is any callable from questions to answers; those that ask a model
are made elsewhere (`runs.reading`).
"""

from .folds import folds_of
from .report import ReadersReport, Results, cross, read
from .retriever import Retriever, first, none
from .scores import ReaderScore, people, score_reader

__all__ = [
    "ReaderScore",
    "ReadersReport",
    "Results",
    "Retriever",
    "cross",
    "first",
    "folds_of",
    "none",
    "people",
    "read",
    "score_reader",
]
