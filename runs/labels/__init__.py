"""Labels of models and of people: asked for, kept, and put into copies."""
