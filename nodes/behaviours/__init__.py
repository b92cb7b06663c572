"""Users with behaviours: rules for those whom no prompt reaches, and the validator that demands what is due."""
