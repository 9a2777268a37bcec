"""What is said to people about a design: explanations for everybody who meets it, and codebooks for its data."""

from maskwell.words.codebook import Codebook, codebook
from maskwell.words.explanation import Explanation, explain

__all__ = ["Codebook", "Explanation", "codebook", "explain"]
