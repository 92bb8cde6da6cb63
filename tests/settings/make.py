"""Write the references of this folder, from transformers 5.24. usage: make.py

classes.rows: the ids of a text by AutoTokenizer, with various tokenizer_config.json and config.json
files next to a tokenizer.json of tests/tokenizer. A line has, separated by tabs, the folder, the
tokenizer_config.json, the config.json (or - for none), the text and the ids without special tokens.

ends.rows: the ids of "the", and of "the" with "and", with special tokens. A line has the folder,
the tokenizer_config.json, `begun` if the template of a single text begins with <s>, else `bare`,
and both lists of ids.

beside.rows: the effect of an added_tokens.json and of lists of special tokens. A line has the
folder, the tokenizer_config.json, the added_tokens.json, the text, its ids, and their text without
special tokens.

cleaning.rows: decoded ids. A line has the folder, the tokenizer_config.json, the ids and the text.
"""
import json
import os
import tempfile

from transformers import AutoTokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
TOKENIZERS = os.path.join(HERE, '..', 'tokenizer')

BERT = 'Hello ÉCOLE and 中文 TheRE'
BYTES = 'Hello the there'
PIECES = 'the there and'
LLAMA = ' the <s> the there'

CLASSES = [
    ('bert_cased', {'tokenizer_class': 'BertTokenizer'}, None, BERT),
    ('bert_cased', {'tokenizer_class': 'BertTokenizer', 'do_lower_case': False}, None, BERT),
    ('bert_cased', {'tokenizer_class': 'BertTokenizerFast', 'do_lower_case': True, 'strip_accents': False}, None, BERT),
    ('bert_cased', {'tokenizer_class': 'PreTrainedTokenizerFast', 'do_lower_case': True}, {'model_type': 'bert'}, BERT),
    ('bert_cased', {'tokenizer_class': 'ElectraTokenizer', 'do_lower_case': False, 'strip_accents': True}, None, BERT),
    ('bert_cased', {'do_lower_case': True}, {'model_type': 'distilbert'}, BERT),
    ('bert_cased', {}, {'model_type': 'electra'}, BERT),
    ('bert_cased', {}, {'model_type': 'bert', 'tokenizer_class': 'PreTrainedTokenizerFast'}, BERT),
    ('bert_cased', {'do_lower_case': True}, {'model_type': 'modernbert'}, BERT),
    ('bert_cased', {'tokenizer_class': 'DPRReaderTokenizer', 'do_lower_case': False}, None, BERT),
    ('bert_uncased', {'tokenizer_class': 'BertTokenizer', 'do_lower_case': False}, None, BERT),
    ('bert_uncased', {'tokenizer_class': 'MPNetTokenizer', 'tokenize_chinese_chars': False}, None, BERT),
    ('bert_uncased', {'tokenizer_class': 'DistilBertTokenizer', 'strip_accents': False}, None, BERT),
    ('gpt2', {'tokenizer_class': 'GPT2Tokenizer', 'add_prefix_space': True}, None, BYTES),
    ('gpt2', {'add_prefix_space': True}, {'model_type': 'opt'}, BYTES),
    ('gpt2', {'tokenizer_class': 'PreTrainedTokenizerFast', 'add_prefix_space': True}, {'model_type': 'gpt2'}, BYTES),
    ('gpt2', {'tokenizer_class': 'BlenderbotTokenizer'}, None, BYTES),
    ('roberta', {'tokenizer_class': 'RobertaTokenizerFast', 'add_prefix_space': True}, {'model_type': 'roberta'}, BYTES),
    ('roberta', {'tokenizer_class': 'BartTokenizer', 'add_prefix_space': True}, {'model_type': 'bart'}, BYTES),
    ('xlmr', {'tokenizer_class': 'XLMRobertaTokenizer', 'add_prefix_space': False}, None, PIECES),
    ('xlmr', {'tokenizer_class': 'XLMRobertaTokenizer', 'add_prefix_space': True}, None, PIECES),
    ('xlmr', {'add_prefix_space': False}, {'model_type': 'camembert'}, PIECES),
    ('llama2', {'tokenizer_class': 'LlamaTokenizer'}, {'model_type': 'llama'}, LLAMA),
    ('llama2', {'tokenizer_class': 'LlamaTokenizerFast', 'legacy': True}, {'model_type': 'llama'}, LLAMA),
    ('llama2', {'tokenizer_class': 'LlamaTokenizer', 'add_prefix_space': False}, {'model_type': 'llama'}, LLAMA),
    ('llama2', {'tokenizer_class': 'LlamaTokenizer'}, {'model_type': 'mistral'}, LLAMA),
    ('gpt2', {'tokenizer_class': 'LlamaTokenizer', 'add_prefix_space': True}, {'model_type': 'llama'}, BYTES),
    ('llama2', {'tokenizer_class': 'CodeLlamaTokenizer', 'legacy': True}, None, LLAMA),
    ('llama2', {'tokenizer_class': 'CodeLlamaTokenizer', 'add_prefix_space': False}, {'model_type': 'code_llama'}, LLAMA),
]
# Special tokens around a text: add_bos_token and add_eos_token are ignored next to a
# tokenizer.json.
BEGUN = '"single":[{"SpecialToken":{"id":"<s>","type_id":0}},'
ENDS = [
    ('llama2', dict(tokenizer_class=name, **keys), begun)
    for begun in ('begun', 'bare')
    for name in ('LlamaTokenizer', 'CodeLlamaTokenizer', 'PreTrainedTokenizerFast')
    for keys in ({}, {'add_bos_token': False}, {'add_eos_token': True}, {'add_bos_token': True, 'add_eos_token': False})
]


CLEAN, FAST = {'clean_up_tokenization_spaces': True}, {'tokenizer_class': 'PreTrainedTokenizerFast'}
BPE_TOO = {'clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output': True}
BLANKS = "the , a ' .s . do n't he 's I 'm we 've you 're ' n ' t  ! ? ' ' s 'rs 's.  ,"

CLEANINGS = [
    (name, dict(FAST, **more))
    for name, more in (('xlmr', CLEAN), ('xlmr', {}), ('t5', CLEAN), ('bert_uncased', CLEAN), ('bert_uncased', {}), ('gpt2', CLEAN),
                       ('llama2', CLEAN), ('gpt2', dict(CLEAN, **BPE_TOO)))
]


BESIDE = [
    ('xlmr', FAST, {'<mask>': 449}, 'the <mask> the'),
    ('roberta', FAST, {'<mask>': 700, '</s>': 2}, 'the <mask> the</s>'),
    ('llama2', FAST, {'</s>': 2}, 'the</s> the'),
    ('llama2', FAST, {'</s>': 2, '<more>': 1001}, 'the<more> the'),
    ('pythia', dict(FAST, additional_special_tokens=['    ']), {}, 'a    b'),
    ('pythia', dict(FAST, extra_special_tokens={'wide_token': '    '}), {}, 'a    b'),
    ('pythia', dict(FAST, mask_token='    '), {}, 'a    b'),
]


def beside(to):
    for name, config, added, text in BESIDE:
        tokenizer = tokenizer_of(name, config, added=added)
        ids = tokenizer(text, add_special_tokens=False)['input_ids']
        print(name, json.dumps(config), json.dumps(added), text, ' '.join(map(str, ids)), tokenizer.decode(ids, skip_special_tokens=True),
              sep='\t', file=to)


def ends(to):
    for name, config, begun in ENDS:
        tokenizer = tokenizer_of(name, config, edit=(BEGUN, '"single":[') if begun == 'bare' else None)
        texts = [' '.join(map(str, tokenizer(*text)['input_ids'])) for text in (('the',), ('the', 'and'))]
        print(name, json.dumps(config), begun, *texts, sep='\t', file=to)


def tokenizer_of(name, config, model=None, edit=None, added=None):
    """AutoTokenizer's tokenizer for a tokenizer.json with these files next to it."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(TOKENIZERS, name, 'tokenizer.json'), encoding='utf-8') as f:
            content = f.read()
        with open(os.path.join(folder, 'tokenizer.json'), 'w', encoding='utf-8') as f:
            f.write(content.replace(*edit) if edit else content)
        for file, content in (('tokenizer_config.json', config), ('config.json', model), ('added_tokens.json', added)):
            if content is not None:
                with open(os.path.join(folder, file), 'w') as f:
                    json.dump(content, f)
        return AutoTokenizer.from_pretrained(folder)


def cleanings(to):
    for name, config in CLEANINGS:
        tokenizer = tokenizer_of(name, config)
        ids = tokenizer(BLANKS, add_special_tokens=False)['input_ids']
        print(name, json.dumps(config), ' '.join(map(str, ids)), tokenizer.decode(ids), sep='\t', file=to)


def classes(to):
    for name, config, model, text in CLASSES:
        ids = tokenizer_of(name, config, model)(text, add_special_tokens=False)['input_ids']
        print(name, json.dumps(config), json.dumps(model) if model else '-', text, ' '.join(map(str, ids)), sep='\t', file=to)


if __name__ == '__main__':
    with open(os.path.join(HERE, 'classes.rows'), 'w') as rows:
        classes(rows)
    with open(os.path.join(HERE, 'cleaning.rows'), 'w') as rows:
        cleanings(rows)
    with open(os.path.join(HERE, 'ends.rows'), 'w') as rows:
        ends(rows)
    with open(os.path.join(HERE, 'beside.rows'), 'w') as rows:
        beside(rows)
