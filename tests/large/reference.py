"""Write the results of transformers for a folder in f32, for `xformc verify --against`: the logits
of some ids, or the hidden states of an encoder. For a decoder-only model also print the ids that
follow.

usage: reference.py FOLDER OUT.safetensors [IDS]        IDS: how many ids to read; default: 16
Needs PyTorch, transformers and safetensors.
"""

import sys

import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoModelForSeq2SeqLM, logging

ANSWER = 16


def some_ids(count, vocab):
    """Ids from 3 up, spread over the vocabulary."""
    return [[i * 2654435761 % (1 << 32) % (vocab - 3) + 3 for i in range(count)]]


def of_encoder_decoder(model, ids):
    first = torch.tensor([[model.config.decoder_start_token_id]])
    target = torch.cat([first, ids[:, :7]], 1)
    logits = model(input_ids=ids, decoder_input_ids=target).logits
    return {"source": ids, "target": target, "logits": logits}


def of_decoder(model, ids):
    answer = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False,
                            max_new_tokens=ANSWER, min_new_tokens=ANSWER, pad_token_id=0)
    print(*ids[0].tolist())
    print(*answer[0, ids.shape[1]:].tolist())
    return {"target": ids, "logits": model(ids).logits}


def of_encoder(model, ids):
    last = f"encoder.{model.config.num_hidden_layers - 1}.norm.1"
    return {"source": ids, last: model(ids).last_hidden_state}


def kind_of(config):
    if config.is_encoder_decoder:
        return AutoModelForSeq2SeqLM, of_encoder_decoder
    if "CausalLM" in config.architectures[0]:
        return AutoModelForCausalLM, of_decoder
    return AutoModel, of_encoder


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    folder, out = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) == 4 else 16
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    config = AutoConfig.from_pretrained(folder)
    kind, values = kind_of(config)
    model = kind.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        kept = values(model, torch.tensor(some_ids(count, config.vocab_size)))
    first = {name: x[0].contiguous() for name, x in kept.items()}
    save_file({name: x.int() if x.dtype == torch.int64 else x for name, x in first.items()}, out)


main()
