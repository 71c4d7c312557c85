"""Every answer and vector ever obtained, so that nothing is paid for twice."""

from src.ledger.answers import Reply
from src.ledger.database import Mode
from src.ledger.keys import request_key
from src.ledger.ledger import Ledger
from src.ledger.payments import Payer, Spend

__all__ = ["Ledger", "Mode", "Payer", "Reply", "Spend", "request_key"]
