"""Labels in numbers: how far they agree, what several come to, what people prefer, and whose they are."""
