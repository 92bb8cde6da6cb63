-- Random weights replace a file: the vocabularies are still looked for beside that file.
local base = xf.model { name = "t", layers = 1, d_model = 2, heads = 1, d_ff = 1, max_len = 80, tokenizer = "characters", weights = "../../specs/dates/dates.safetensors" }
return base{ weights = "random" }{ layers = 2 }
