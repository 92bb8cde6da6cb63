"""Write folders, each with a small tokenizer and a chat template, modelled on the families in
chats.def, and NAME.gold: the output of transformers' apply_chat_template as JSON lines with the
keys system (or null), user or turns (a list of what user and assistant say in turn), date if one is
given, text, ids. Today is the day of NOW. usage: make.py, in this folder."""
import datetime
import json
import os
import shutil

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast
from transformers.utils import chat_template_utils

NOW = 1930480200                                        # 5 March 2031, 12:30 UTC


class Today(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.fromtimestamp(NOW, datetime.timezone.utc)


chat_template_utils.datetime = Today

CORPUS = ['You are a helpful assistant who answers in few words.', 'system user assistant model', 'Today Date: 26 Jul 2024',
          'Cutting Knowledge Date: December 2023', 'What is the capital of France? The capital is Paris.'] * 4

USERS = ['What is the capital?', '  two spaces before, a line end behind\n', 'é 🙂 \u00a0', "it's {{ braces }} and \"quotes\"", '[/INST] <b>',
         '\u2003wide space\u3000\x1f', 'a' * 60]
TALKS = [['What is the capital?', 'Paris.', 'And of Italy?'],
         [' \n first ', '\n An answer, \t with white space \u00a0', '  second\n', '', ' third ', 'é 🙂 </s> <|eot_id|>', '4'],
         ['What is the capital?', '', 'And of Italy?', '', '4'],
         ['Why?', '<think>\nBecause </think> of\n</think>\n\n It is "so".\n', 'Thanks', 'ok</think>', '?']]
SYSTEMS = [None, 'You are helpful.', ' \n Answer in few words. \t']


def byte_level(specials):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=280 + len(specials), special_tokens=specials, show_progress=False,
                                                      initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return t


def sentencepiece_like(specials):
    t = Tokenizer(models.BPE(byte_fallback=True, unk_token='<unk>', fuse_unk=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend('▁'), normalizers.Replace(' ', '▁')])
    t.decoder = decoders.Sequence([decoders.Replace('▁', ' '), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(' ', 1, 0)])
    bytes_ = [f'<0x{b:02X}>' for b in range(256)]
    t.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=340 + len(specials), special_tokens=specials + bytes_, show_progress=False))
    data = json.loads(t.to_str())                       # bytes are pieces of the model, not added tokens
    data['added_tokens'] = [a for a in data['added_tokens'] if a['content'] in specials]
    t = Tokenizer.from_str(json.dumps(data))
    bos = specials.index('<s>')
    t.post_processor = processors.TemplateProcessing(single='<s> $A', special_tokens=[('<s>', bos)])
    return t


LLAMA3 = '''{% for message in messages %}\
{% set turn = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] | trim + '<|eot_id|>' %}\
{% if loop.first %}{% set turn = bos_token + turn %}{% endif %}{{ turn }}{% endfor %}\
{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}'''

LLAMA3_DATED = '''{{- bos_token }}
{%- if not date_string is defined %}{%- set date_string = "26 Jul 2024" %}{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content'] | trim %}{%- set rest = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}{%- set rest = messages %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{{- "Cutting Knowledge Date: December 2023\\n" }}
{{- "Today Date: " + date_string + "\\n\\n" }}
{{- system_message + "<|eot_id|>" }}
{%- for message in rest %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}'''

LLAMA3_TODAY = LLAMA3_DATED.replace('''{%- set date_string = "26 Jul 2024" %}''', '''
    {%- if strftime_now is defined %}{%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}{%- set date_string = "26 Jul 2024" %}{%- endif %}''')

CHATML = '''{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}\
{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}'''

CHATML_PRESET = '''{%- if messages[0]["role"] == "system" %}
    {{- "<|im_start|>system\\n" + messages[0]["content"] + "<|im_end|>\\n" }}
{%- else %}
    {{- "<|im_start|>system\\nYou answer, in short.<|im_end|>\\n" }}
{%- endif %}
{%- for message in messages %}
    {%- if message["role"] != "system" %}{{- "<|im_start|>" + message["role"] + "\\n" + message["content"] + "<|im_end|>\\n" }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- "<|im_start|>assistant\\n" }}{%- endif %}'''

CHATML_TOOLS = '''{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0]['role'] == 'system' %}{{- messages[0]['content'] }}{%- else %}{{- 'You answer; you have tools.' }}{%- endif %}
    {{- "\\n\\nTools:\\n<|im_end|>\\n" }}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>system\\nYou answer; you have tools.<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}'''

CHATML_STRING = '''{%- if messages[0].role == 'system' %}{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}{%- endif %}
{%- for message in messages %}
    {%- if message.content is string %}{%- set content = message.content %}{%- else %}{%- set content = '' %}{%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role + '\\n' + content }}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}'''

CHATML_THINKS = '''{%- if messages[0].role == 'system' %}{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}{%- endif %}
{%- set ns = namespace(last_query_index=messages|length - 1) %}
{%- for message in messages %}
    {%- if message.role == "user" %}{%- set ns.last_query_index = loop.index0 %}{%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set content = message.content %}{%- set thoughts = '' %}
        {%- if '</think>' in message.content %}
            {%- set content = message.content.split('</think>')[-1].lstrip('\\n') %}
            {%- set thoughts = message.content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index %}
            {{- '<|im_start|>' + message.role + '\\n<think>\\n' + thoughts.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}
{%- endif %}'''

LLAMA2 = '''{% if messages[0]['role'] == 'system' %}{% set rest = messages[1:] %}{% set system_message = messages[0]['content'] %}\
{% else %}{% set rest = messages %}{% set system_message = false %}{% endif %}\
{% for message in rest %}{% if loop.first and system_message != false %}\
{% set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}\
{% else %}{% set content = message['content'] %}{% endif %}\
{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}\
{% else %}{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}'''

MISTRAL = '''{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}\
{% else %}{{ message['content'] + eos_token }}{% endif %}{% endfor %}'''


MISTRAL_SPACED = MISTRAL.replace("message['content'] + eos_token", "message['content'] + eos_token + ' '")


def mistral_told(before, behind, place='last', content='message["content"]'):
    return f'''{{%- if messages[0]["role"] == "system" %}}
    {{%- set system_message = messages[0]["content"] %}}{{%- set rest = messages[1:] %}}
{{%- else %}}
    {{%- set rest = messages %}}
{{%- endif %}}
{{{{- bos_token }}}}
{{%- for message in rest %}}
    {{%- if message["role"] == "user" and loop.{place} and system_message is defined %}}
        {{{{- "{before}" + system_message + "\\n\\n" + message["content"] + "{behind}" }}}}
    {{%- elif message["role"] == "user" %}}
        {{{{- "{before}" + message["content"] + "{behind}" }}}}
    {{%- else %}}
        {{{{- " " + {content} + eos_token }}}}
    {{%- endif %}}
{{%- endfor %}}'''


GEMMA = '''{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}\
{% for message in messages %}{% set role = 'model' if message['role'] == 'assistant' else message['role'] %}\
{{ '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}\
{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}'''

GEMMA3 = '''{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- set first_user_prefix = messages[0]['content'] + '\\n\\n' -%}{%- set rest = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}{%- set rest = messages -%}
{%- endif -%}
{%- for message in rest -%}
    {{ '<start_of_turn>' + ('model' if message['role'] == 'assistant' else message['role']) + '\\n' + (first_user_prefix if loop.first else "") }}
    {{- message['content'] | trim }}{{ '<end_of_turn>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<start_of_turn>model\\n' }}{%- endif -%}'''

PHI3 = '''{% for message in messages %}{% if message['role'] == 'system' %}{{ '<|system|>\\n' + message['content'] + '<|end|>\\n' }}\
{% elif message['role'] == 'user' %}{{ '<|user|>\\n' + message['content'] + '<|end|>\\n' }}\
{% else %}{{ '<|assistant|>\\n' + message['content'] + '<|end|>\\n' }}{% endif %}{% endfor %}\
{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}'''

# Like Phi-3.5's.
PHI3_ASKS = PHI3.replace("'system' %}", "'system' and message['content'] %}").replace(
    "{% else %}{{ '<|assi", "{% elif message['role'] == 'assistant' %}{{ '<|assi")

PHI4_MINI = '''{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}{% endfor %}\
{% if add_generation_prompt %}{{ '<|assistant|>' }}{% else %}{{ eos_token }}{% endif %}'''

PHI4 = '''{% for message in messages %}{{ '<|im_start|>' + message['role'] + '<|im_sep|>' + message['content'] + '<|im_end|>' }}{% endfor %}\
{% if add_generation_prompt %}{{ '<|im_start|>assistant<|im_sep|>' }}{% endif %}'''

PHI3_FIRST = '''{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}\
{{ '<|user|>' + '\\n' + message['content'] + '<|end|>' + '\\n' + '<|assistant|>' + '\\n' }}\
{% else %}{{ message['content'] + '<|end|>' + '\\n' }}{% endif %}{% endfor %}'''

PHI3_SMALL = '''{{ bos_token }}{% for message in messages %}{{ '<|' + message['role'] + '|>' + '\\n' + message['content'] + '<|end|>\\n' }}\
{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}'''

ZEPHYR = '''{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>\\n' + message['content'] + eos_token }}
{% else %}
{{ '<|assistant|>\\n' + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}'''

HEADERS = ['<|begin_of_text|>', '<|end_of_text|>', '<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>']
PHI = ['<unk>', '<s>', '</s>', '<|user|>', '<|system|>', '<|assistant|>', '<|end|>']
TURNS = ['<pad>', '<eos>', '<bos>', '<unk>', '<start_of_turn>', '<end_of_turn>']
# name: tokenizer, special tokens, begin and end tokens of texts, template, where the template is
FOLDERS = {
    'llama3': (byte_level, HEADERS, HEADERS[0], '<|eot_id|>', LLAMA3, 'config'),
    'llama3_dated': (byte_level, HEADERS, HEADERS[0], '<|eot_id|>', LLAMA3_DATED, 'file'),
    'llama3_today': (byte_level, HEADERS, HEADERS[0], '<|eot_id|>', LLAMA3_TODAY, 'file'),
    'chatml': (byte_level, ['<|endoftext|>', '<|im_start|>', '<|im_end|>'], None, '<|im_end|>', CHATML, 'config'),
    'chatml_preset': (byte_level, ['<|endoftext|>', '<|im_start|>', '<|im_end|>'], None, '<|im_end|>', CHATML_PRESET, 'list'),
    'chatml_tools': (byte_level, ['<|endoftext|>', '<|im_start|>', '<|im_end|>'], None, '<|im_end|>', CHATML_TOOLS, 'config'),
    'chatml_string': (byte_level, ['<|endoftext|>', '<|im_start|>', '<|im_end|>'], None, '<|im_end|>', CHATML_STRING, 'config'),
    'chatml_thinks': (byte_level, ['<|endoftext|>', '<|im_start|>', '<|im_end|>'], None, '<|im_end|>', CHATML_THINKS, 'config'),
    'llama2': (sentencepiece_like, ['<unk>', '<s>', '</s>'], '<s>', '</s>', LLAMA2, 'config'),
    'mistral': (sentencepiece_like, ['<unk>', '<s>', '</s>'], '<s>', '</s>', MISTRAL, 'config'),
    'mistral_spaced': (sentencepiece_like, ['<unk>', '<s>', '</s>'], '<s>', '</s>', MISTRAL_SPACED, 'config'),
    'mistral_v1_first': (sentencepiece_like, ['<unk>', '<s>', '</s>'], '<s>', '</s>', mistral_told(' [INST] ', ' [/INST]', 'first'), 'file'),
    'mistral_v3_trim': (sentencepiece_like, ['<unk>', '<s>', '</s>', '[INST]', '[/INST]'], '<s>', '</s>',
                        mistral_told('[INST] ', '[/INST]', content='message["content"]|trim'), 'file'),
    'mistral_v3_first': (sentencepiece_like, ['<unk>', '<s>', '</s>', '[INST]', '[/INST]'], '<s>', '</s>',
                         mistral_told('[INST] ', '[/INST]', 'first'), 'file'),
    'mistral_v1': (sentencepiece_like, ['<unk>', '<s>', '</s>'], '<s>', '</s>', mistral_told(' [INST] ', ' [/INST]'), 'file'),
    'mistral_v3': (sentencepiece_like, ['<unk>', '<s>', '</s>', '[INST]', '[/INST]'], '<s>', '</s>', mistral_told('[INST] ', '[/INST]'), 'file'),
    'gemma': (byte_level, TURNS, '<bos>', '<eos>', GEMMA, 'config'),
    'gemma3': (byte_level, TURNS, '<bos>', '<eos>', GEMMA3, 'config'),
    'phi3': (sentencepiece_like, PHI, '<s>', '<|end|>', PHI3, 'config'),
    'phi3_first': (sentencepiece_like, PHI, '<s>', '<|end|>', PHI3_FIRST, 'config'),
    'phi3_small': (byte_level, PHI, '<s>', '<|end|>', PHI3_SMALL, 'config'),
    'phi4_mini': (byte_level, ['<|endoftext|>', '<|user|>', '<|system|>', '<|assistant|>', '<|end|>'], None, '<|endoftext|>', PHI4_MINI, 'config'),
    'phi4': (byte_level, ['<|endoftext|>', '<|im_start|>', '<|im_sep|>', '<|im_end|>'], None, '<|im_end|>', PHI4, 'config'),
    'phi3_asks': (sentencepiece_like, PHI, '<s>', '<|end|>', PHI3_ASKS, 'config'),
    'zephyr': (sentencepiece_like, ['<unk>', '<s>', '</s>'], '<s>', '</s>', ZEPHYR, 'config'),
}


# Like the others, except in earlier turns.
SHORT = ('phi3_asks', 'chatml_string', 'mistral_spaced', 'mistral_v1_first', 'mistral_v3_trim', 'mistral_v3_first')


def row(t, system, said, **date):
    """said: the turns of user and assistant, user first and last."""
    messages = [{'role': 'system', 'content': system}] if system is not None else []
    messages += [{'role': 'assistant' if i % 2 else 'user', 'content': text} for i, text in enumerate(said)]
    text = t.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **date)
    ids = t.apply_chat_template(messages, tokenize=True, add_generation_prompt=True, return_dict=False, **date)
    assert ids == t(text, add_special_tokens=False)['input_ids']
    return text, ids


def rows(folder):
    t = PreTrainedTokenizerFast.from_pretrained(folder)
    systems = [s for s in SYSTEMS if s is None or folder not in ('gemma', 'mistral', 'mistral_spaced', 'phi3_first')]      # rejected or ignored
    for system in systems:
        for user in USERS[:2] if folder in SHORT else USERS:
            text, ids = row(t, system, [user])
            yield json.dumps({'system': system, 'user': user, 'text': text, 'ids': ids})
    for system in systems[::2]:
        for turns in TALKS:
            text, ids = row(t, system, turns)
            yield json.dumps({'system': system, 'turns': turns, 'text': text, 'ids': ids})
        if folder in ('llama3_dated', 'llama3_today'):
            text, ids = row(t, system, TALKS[0], date_string='the 1st of May')
            yield json.dumps({'system': system, 'turns': TALKS[0], 'date': 'the 1st of May', 'text': text, 'ids': ids})
    for said in [{'user': USERS[0]}, {'turns': TALKS[0]}] if len(systems) > 1 else []:      # an empty system text
        text, ids = row(t, '', said.get('turns') or [said['user']])
        yield json.dumps({'system': '', **said, 'text': text, 'ids': ids})


def main():
    for name, (make, specials, begin, end, template, where) in FOLDERS.items():
        shutil.rmtree(name, ignore_errors=True)
        os.mkdir(name)
        make(specials).save(f'{name}/tokenizer.json', pretty=False)
        config = {'tokenizer_class': 'PreTrainedTokenizerFast', 'clean_up_tokenization_spaces': False,
                  'eos_token': {'__type': 'AddedToken', 'content': end, 'lstrip': False, 'rstrip': False} if where == 'file' else end}
        if begin:
            config['bos_token'] = begin
        if where == 'config':
            config['chat_template'] = template
        elif where == 'list':
            config['chat_template'] = [{'name': 'other', 'template': 'none'}, {'name': 'default', 'template': template}]
        else:
            with open(f'{name}/chat_template.jinja', 'w') as f:
                f.write(template)
        with open(f'{name}/tokenizer_config.json', 'w') as f:
            json.dump(config, f, indent=1, ensure_ascii=False)
            f.write('\n')
        with open(f'{name}.gold', 'w') as f:
            f.writelines(row + '\n' for row in rows(name))


main()
