"""Values of measures for tests."""

from duologue.analysis.realism.measures import MEASURES
from duologue.analysis.realism.measures.transcripts import transcripts_of


def value(name, *conversations, language="en"):
    measure = next(measure for measure in MEASURES if measure.name == name)
    values = measure.of(transcripts_of(conversations, language))
    return values[0] if len(conversations) == 1 else values
