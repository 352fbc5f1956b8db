"""What a model is asked for when it judges a message, and how its answer is read whatever shape it has.

Invariant: never half a fact, never an exception.
"""

from bot.memory.judgement_format.judgement import JUDGEMENT_SCHEMA, ReadEntity, ReadFact, ReadJudgement
from bot.memory.judgement_format.reading import read_judgement

__all__ = ["JUDGEMENT_SCHEMA", "ReadEntity", "ReadFact", "ReadJudgement", "read_judgement"]
