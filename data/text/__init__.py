"""Text: tokens, sentences, languages, and cleaning of models' replies."""
