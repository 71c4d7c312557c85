"""Sentence encoders: texts → unit vectors, none of them paid for twice."""

from src.embed.endpoint import EndpointEncoder, EndpointModel
from src.embed.hashing import HashingEncoder, HashingModel
from src.embed.sentence import SentenceEncoder, SentenceModel

__all__ = ["EndpointEncoder", "EndpointModel", "HashingEncoder", "HashingModel", "SentenceEncoder", "SentenceModel"]
