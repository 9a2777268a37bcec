"""Questionnaires for people who mask their own answers: forms, cards, spinners and packs of cards to print."""

from maskwell.questionnaires.pages.page import page
from maskwell.questionnaires.question import Question, ask, realisable
from maskwell.questionnaires.xlsform import xlsform

__all__ = ["Question", "ask", "page", "realisable", "xlsform"]
