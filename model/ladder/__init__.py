"""The ladder: how Kafka's truncation and fencing rules grew, one module a rung, oldest first."""

from model.ladder.kip101 import KIP101
from model.ladder.kip279 import KIP279
from model.ladder.kip320 import KIP320
from model.ladder.kip320_first_try import KIP320_FIRST_TRY
from model.ladder.truncate_to_high_watermark import TRUNCATE_TO_HIGH_WATERMARK

LADDER = (TRUNCATE_TO_HIGH_WATERMARK, KIP101, KIP279, KIP320_FIRST_TRY, KIP320)

__all__ = ["LADDER"]
