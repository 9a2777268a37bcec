"""Pictures of what surveys are asked besides shares: hypotheses, samples, and who follows the design."""
