return xf.model{ name="t", d_model=65, heads=4, source_vocab=3, target_vocab=3, weights="random", position="none" }
