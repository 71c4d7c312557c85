"""Knowledge Frontier: what a language model knows, how surely, where it fails and at what cost."""
