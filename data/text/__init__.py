"""What texts are made of: tokens, sentences, languages; what models wrap around them."""
