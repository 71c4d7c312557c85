"""Every answer and vector ever obtained, so that nothing is paid for twice."""

from src.ledger.answers import Reply
from src.ledger.budget import Budget, Budgets
from src.ledger.database import Mode
from src.ledger.keys import request_key
from src.ledger.ledger import Ledger
from src.ledger.payments import Payer, Spend
from src.ledger.vectors import Unanswered

__all__ = ["Budget", "Budgets", "Ledger", "Mode", "Payer", "Reply", "Spend", "Unanswered", "request_key"]
