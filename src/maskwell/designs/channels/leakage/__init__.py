"""What the reports of a channel tell on average: from its matrix, by set size in closed form, and over all priors."""
