"""Write learned.rows: conversations as transformers writes them with learned/*.jinja. Each JSON
line has a name, a conversation (system or null, turns, date if one is given) and its text, null if
the template rejects it. Templates that cannot run have no rows. Also expressions.rows:
single-expression templates and their output. Today is the day of NOW. usage: make_learned.py, in
this folder."""
import datetime
import glob
import json

from transformers.utils import chat_template_utils as utils

NOW = 1930480200                                        # 5 March 2031, 12:30 UTC
SYSTEMS = [None, 'Be brief.', '', ' \n Be kind. \t', ' \n']
TALKS = [['What is it?'], [''], [' \n '],
         ['  so\n'], ['What?', 'That.', 'And this?'], [' \n a ', '\n b c \n', '  d\n'], ['a', '', 'b', 'c', 'd', ' e', 'f'],
         ['Why?', '<think>\nBecause </think> of\n</think>\n\n It is "so".\n', 'Thanks'], ['{{ x }} <b> \\n é']]
EXPRESSIONS = [
    "1 + 2 * 3", "7 // 2", "-7 // 2", "-7 % 3", "7 % -3", "2 - 5", "'a' + 'b'", "'a' ~ 1 ~ none ~ true", "'ab' * 3", "'a' 'b'",
    "(1, 2) | length", "[1, 2, 3] | join('-')", "[1, 2, 3][1:] | join", "'abcdef'[1:-1]", "'abcdef'[::-1]", "'abc'[0]", "[1, 2, 3][-1]",
    "[1, 2, 3][::2] | join(',')", "'abc'[5:]", "not true", "not not 1", "1 if 0", "1 if 0 else 2", "1 if true else 2 if true else 3",
    "1 < 2 < 3", "1 < 3 < 2", "1 == 1.0", "'a' == 'a' and 2", "0 or 'x'", "'' and 'x'", "true and not false", "1 in [1, 2]",
    "'b' in 'abc'", "'x' not in 'abc'", "'k' in {'k': 1}", "{'k': 5}['k']", "{'k': 5}.k", "{'a': 1}.get('b', 7)",
    "{'a': 1, 'b': 2}.items() | length", "{'a': 1, 'b': 2} | join", "nothing", "nothing.more", "nothing is defined", "nothing is not defined",
    "nothing | default('d')", "'' | default('d')", "'' | default('d', true)", "none | default('d')", "none is none", "1 is number",
    "'a' is string", "[] is iterable", "{} is mapping", "true is boolean", "true is true", "1 is odd", "4 is even", "9 is divisibleby 3",
    "9 is divisibleby(3)", "1 is integer", "1 is eq 1", "'a' is in ['a']", "'x' is not in ['a']", "' a b '|trim", "'--a--'.strip('-')",
    "'xxaxx'.lstrip('x')", "'xxaxx'.rstrip('x')", "'éaè'.strip('ê')", "'éaé…'.strip('…é')",
    "'a,b,c'.split(',')[1]", "'a,b,c'.split(',', 1)[1]", "'a b'.split('x') | length",
    "'abc'.startswith('ab')", "'abc'.endswith(('x', 'c'))", "'abc'.replace('b', '-')", "'aXb'|lower", "'ab'|upper", "'ab cd'|title",
    "'ab cd'|capitalize", "'ab cd'.title()", "'abab'.replace('a', 'x', 1)", "'abc'.find('c')", "'abc'.find('x')", "'aba'.count('a')",
    "'-'.join(['a', 'b'])", "'ab'.removeprefix('a')", "'ab'.removesuffix('x')", "'a\\nb'.splitlines() | length", "range(3) | join",
    "range(5, 0, -2) | join(' ')", "[{'r': 1}, {'r': 2}] | selectattr('r', 'equalto', 2) | list | length",
    "[{'r': 1}, {'s': 2}] | selectattr('r', 'defined') | list | length", "[{'r': 1}, {'r': 2}] | map(attribute='r') | join('+')",
    "['a', 'b'] | map('upper') | join", "[1, 2, 3] | select('odd') | join", "[0, 1] | reject | join", "[3, 4] | first", "[3, 4] | last",
    "'abc' | reverse", "[1, 2] | reverse | join", "'é🙂' | length", "5 | string + 'x'", "'a' | safe", "[1, [2, 3]] == [1, [2, 3]]",
    "{'a': [1]} == {'a': [1]}", "(1 + 2) | string ~ '!'", "1 | int", "true + 1", "'%s' ~ 1", "messages[0]['role']", "messages[0].content",
    "messages | length", "messages[1:] | length", "messages[5]", "messages[-1].content[:2]", "bos_token", "bos_token + eos_token",
    "pad_token is defined", "tools is none", "tools is defined", "not tools", "documents", "'\\x41\\u00e9\\n\\t\\\\\\'\\q'", "\"it's\"",
    "namespace(a=1).a", "dict(a=2)['a']", "loop is defined", "raise_exception('stop')", "strftime_now('%Y')", "1/2 == 0.5", "10 // 0",
    "1 + 'a'", "nothing + 'a'", "nothing[0]", "nothing()", "'a'.nope", "'a'.nope()", "[1] + [2] | first", "2 is gt 1", "'b' > 'a'",
    "1 < 'a'", "none + 1", "-(3)", "+3", "- 3 | string", "'a' if 'b' is string else 'c'", "[] | first is defined", "1 is sameas 1",
]
BLOCKS = [
    "{% for i in [1,2,3] %}{{ loop.index }}{{ loop.first }}{{ loop.last }}{{ loop.revindex0 }};{% endfor %}",
    "{% for i in [] %}x{% else %}none{% endfor %}", "{% for i in [1,2,3,4] if i % 2 == 0 %}{{ i }}/{{ loop.length }} {% endfor %}",
    "{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }};{% endfor %}", "{% for c in 'aé' %}[{{ c }}]{% endfor %}",
    "{% for i in [1,2,3] %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}{% endfor %}",
    "{% for i in [1,2,3] %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}",
    "{% set x = 1 %}{% for i in [1,2] %}{% set x = x + i %}{{ x }};{% endfor %}{{ x }}", "{% if true %}{% set y = 3 %}{% endif %}{{ y }}",
    "{% set n = namespace(c=0) %}{% for i in [1,2,3] %}{% set n.c = n.c + i %}{% endfor %}{{ n.c }}", "{% set b %}  a {{ 1 }}{% endset %}[{{ b }}]",
    "{% set a, b = 1, 2 %}{{ b }}{{ a }}", "{% set l = [] %}{% set _ = l.append(4) %}{{ l | join }}",
    "{% macro m(a, b='x') %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(2, b=3) }}", "{% if 0 %}a{% elif 1 %}b{% else %}c{% endif %}",
    "  {% if true %}  \n  a\n  {% endif %}\nb", "a\n  {%- if true %}  b{% endif -%}  \n c",
    "a {#- x -#} b", "a\n  {# x #}\nb", "{{ 1 }}\n{{ 2 }}\n", "{{ 1 -}}  \n {{- 2 }}",
    "\n\n{% if true %}\nx\n{% endif %}\n\n", "{%+ if true %}  x{% endif %}", "  {%+ if true %}x{% endif +%}\ny", "a\r\nb\r\n", "{{ '{{' }}{{ '%}' }}",
    "{{ {'a': {'b': 1}}['a']['b'] }}",
    "{% for m in messages %}{{ loop.previtem is defined }}{{ loop.nextitem is defined }}{% endfor %}",
    "{% generation %}x{% endgeneration %}", "{{ 'a\nb' }}",

    "{% for i in [1,2] %}{% for j in [1,2] %}{{ loop.index }}{% endfor %}{{ loop.index }};{% endfor %}",
    "{% for i in [1,2,3] %}\n{{ i }}\n{% endfor %}", "x\n{%- for i in [1,2] %}\n  y{{ i }}\n{%- endfor %}\nz", "{% if %}", "{{ 1 + }}",
    "{% endif %}", "{{ 'a }}",
    "{% for x in %}{% endfor %}",
]


class Today(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.fromtimestamp(NOW, datetime.timezone.utc)


utils.datetime = Today


def render(template, messages, **more):
    try:
        return utils._compile_jinja_template(template).render(
            messages=messages, tools=None, documents=None, add_generation_prompt=True, bos_token='<s>', eos_token='</s>', **more)
    except Exception:
        return None


def main():
    with open('learned.rows', 'w') as f:
        for path in sorted(glob.glob('learned/*.jinja')):
            with open(path, newline='') as source: template = source.read()
            for system in SYSTEMS:
                for turns in TALKS:
                    said = [{'role': 'system', 'content': system}] if system is not None else []
                    said += [{'role': 'assistant' if i % 2 else 'user', 'content': x} for i, x in enumerate(turns)]
                    for date in [{}, {'date_string': 'the 1st'}] if 'date_string' in template else [{}]:
                        row = {'name': path[8:-6], 'system': system, 'turns': turns, **({'date': 'the 1st'} if date else {}),
                               'text': render(template, said, **date)}
                        f.write(json.dumps(row) + '\n')
    with open('expressions.rows', 'w') as f:
        said = [{'role': 'user', 'content': 'Hello'}, {'role': 'assistant', 'content': 'Yes'}]
        for template in ['{{ ' + e + ' }}' for e in EXPRESSIONS] + BLOCKS:
            f.write(json.dumps({'template': template, 'text': render(template, said)}) + '\n')


main()
