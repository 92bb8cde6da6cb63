"""Written English dates and their ISO form: the training data of the dates model.

Every form is a template with a name; FORMS numbers them in order.  A field in
braces is filled from the date:

    {d} {dd}      day, without and with a leading zero          3, 03
    {dth}         ordinal                                       3rd
    {dwords}      ordinal in words                              twenty-third
    {m} {mm}      month, without and with a leading zero        9, 09
    {mon}         abbreviation; September is Sep or Sept        Sep
    {mon.}        abbreviation with a full stop (never May)     Sep.
    {month}       name                                          September
    {wkd}         weekday abbreviated                           Thu
    {weekday}     weekday                                       Thursday
    {yyyy}        year                                          1999
    {yy}          two digits: 70-99 are 19xx, 00-69 are 20xx    99
    {ywords}      spoken in pairs      nineteen ninety-nine, nineteen oh five,
                                       nineteen hundred, two thousand, twenty nineteen
    {ylong}       spoken in full       nineteen hundred and five,
                                       two thousand and five
    {yshort}      full without "and"   nineteen hundred five, two thousand five

The weekday never matters: one in ten is wrong on purpose.

Input: a datetime.date and a random.Random.  Output: text of at most MAX_SOURCE
characters.  Equal seeds give equal text.
"""

import datetime
import itertools
import random
import zlib
from collections import namedtuple

MAX_SOURCE, MAX_TARGET = 80, 12
FIRST_YEAR, LAST_YEAR = 1900, 2099
WRONG_WEEKDAY = 0.10
SEPT = 0.30
SPECIALS = ["<blank>", "<s>", "</s>", "<unk>"]
BLANK, START, END, UNKNOWN = range(4)

MONTHS = ["January", "February", "March", "April", "May", "June", "July",
          "August", "September", "October", "November", "December"]
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday",
            "Saturday", "Sunday"]
SMALL = ["zero", "one", "two", "three", "four", "five", "six", "seven",
         "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
         "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = {2: "twenty", 3: "thirty", 4: "forty", 5: "fifty", 6: "sixty",
        7: "seventy", 8: "eighty", 9: "ninety"}
ORDINAL = {"one": "first", "two": "second", "three": "third", "five": "fifth",
           "eight": "eighth", "nine": "ninth", "twelve": "twelfth",
           "twenty": "twentieth", "thirty": "thirtieth"}

Form = namedtuple("Form", "name template change rule")


def plain(text):
    return text


def no_hyphens(text):
    return text.replace("-", " ").lower()


FORMS = [Form(*row) for row in [
    # Digits only: the separator and the widths of the numbers show the order.
    ("iso", "{yyyy}-{mm}-{dd}", plain, "dashes, year first: year-month-day"),
    ("iso-short", "{yyyy}-{m}-{d}", plain, "the same without leading zeros"),
    ("year-slashes", "{yyyy}/{mm}/{dd}", plain, "slashes, year first: year/month/day"),
    ("year-dots", "{yyyy}.{mm}.{dd}", plain, "dots, year first: year.month.day"),
    ("compact", "{yyyy}{mm}{dd}", plain, "eight digits: year, month, day"),
    ("dots", "{dd}.{mm}.{yyyy}", plain, "dots, year last: day.month.year"),
    ("dots-short", "{d}.{m}.{yyyy}", plain, "the same without leading zeros"),
    ("dots-two-digit", "{d}.{m}.{yy}", plain, "the same, two-digit year"),
    ("dashes", "{dd}-{mm}-{yyyy}", plain, "dashes, year last: day-month-year"),
    ("spaces", "{dd} {mm} {yyyy}", plain, "spaces, year last: day month year"),
    ("year-spaces", "{yyyy} {mm} {dd}", plain, "spaces, year first: year month day"),
    ("slashes", "{mm}/{dd}/{yyyy}", plain, "slashes, year last: month/day/year"),
    ("slashes-short", "{m}/{d}/{yyyy}", plain, "the same without leading zeros"),
    ("slashes-two-digit", "{m}/{d}/{yy}", plain, "the same, two-digit year"),
    # Day, month name, year.
    ("day-mon-year", "{d} {mon} {yyyy}", plain, "day, abbreviated month, year"),
    ("day-mon-stop-year", "{d} {mon.} {yyyy}", plain, "abbreviated with a full stop"),
    ("day-month-year", "{d} {month} {yyyy}", plain, "day, month, year"),
    ("day-month-comma-year", "{d} {month}, {yyyy}", plain, "a comma before the year"),
    ("dd-month-year", "{dd} {month} {yyyy}", plain, "day with a leading zero"),
    ("day-dash-mon", "{d}-{mon}-{yyyy}", plain, "dashes around the month"),
    ("day-dash-mon-two-digit", "{dd}-{mon}-{yy}", plain, "dashes, two-digit year"),
    ("joined", "{dd}{mon}{yyyy}", plain, "nothing between"),
    ("day-mon-apostrophe", "{d} {mon} '{yy}", plain, "apostrophe, two-digit year"),
    ("ordinal-month", "{dth} {month} {yyyy}", plain, "ordinal, month, year"),
    ("ordinal-mon", "{dth} {mon} {yyyy}", plain, "ordinal, abbreviated month"),
    ("ordinal-month-comma", "{dth} {month}, {yyyy}", plain, "a comma before the year"),
    ("ordinal-of-mon", "{dth} of {mon} {yyyy}", plain, "ordinal of abbreviated month"),
    ("ordinal-of", "{dth} of {month} {yyyy}", plain, "ordinal of month year"),
    ("ordinal-of-comma", "{dth} of {month}, {yyyy}", plain, "a comma before the year"),
    ("ordinal-of-apostrophe", "{dth} of {month} '{yy}", plain, "apostrophe, two-digit year"),
    ("the-ordinal-of", "the {dth} of {month} {yyyy}", plain, "with the article"),
    ("the-ordinal-of-comma", "the {dth} of {month}, {yyyy}", plain, "article and comma"),
    ("the-ordinal-day-of", "the {dth} day of {month}, {yyyy}", plain, "with the word day"),
    # Month name, day, year.
    ("month-day-year", "{month} {d}, {yyyy}", plain, "month day, year"),
    ("month-day-no-comma", "{month} {d} {yyyy}", plain, "no comma"),
    ("month-ordinal", "{month} {dth}, {yyyy}", plain, "month, ordinal, year"),
    ("month-ordinal-no-comma", "{month} {dth} {yyyy}", plain, "no comma"),
    ("month-the-ordinal", "{month} the {dth}, {yyyy}", plain, "with the article"),
    ("mon-day-year", "{mon} {d}, {yyyy}", plain, "abbreviated month day, year"),
    ("mon-stop-day-year", "{mon.} {d}, {yyyy}", plain, "abbreviated with a full stop"),
    ("mon-ordinal", "{mon} {dth} {yyyy}", plain, "abbreviated month, ordinal"),
    ("mon-day-apostrophe", "{mon} {d} '{yy}", plain, "apostrophe, two-digit year"),
    # Year first, with a month name.
    ("year-month-day", "{yyyy} {month} {d}", plain, "year, month, day"),
    ("year-dash-mon", "{yyyy}-{mon}-{dd}", plain, "year, abbreviated month, day"),
    # With a weekday.
    ("weekday-ordinal-of", "{weekday}, {dth} of {month} {yyyy}", plain, "weekday, ordinal of month year"),
    ("weekday-the-ordinal-of", "{weekday} the {dth} of {month}, {yyyy}", plain, "weekday with the article"),
    ("weekday-month-day", "{weekday}, {month} {d}, {yyyy}", plain, "weekday, month day, year"),
    ("weekday-month-ordinal", "{weekday}, {month} {dth}, {yyyy}", plain, "weekday, month ordinal, year"),
    ("weekday-day-month", "{weekday} {d} {month} {yyyy}", plain, "no comma"),
    ("weekday-comma-day-month", "{weekday}, {d} {month} {yyyy}", plain, "with a comma"),
    ("weekday-ordinal-month", "{weekday} {dth} {month} {yyyy}", plain, "weekday, ordinal, month, year"),
    ("wkd-day-mon", "{wkd}, {dd} {mon} {yyyy}", plain, "as in an email header"),
    ("wkd-ordinal-mon", "{wkd} {dth} {mon} {yyyy}", plain, "abbreviated, ordinal"),
    ("wkd-mon-day", "{wkd} {mon} {d} {yyyy}", plain, "abbreviated, no comma"),
    ("wkd-stop-mon-stop", "{wkd}., {mon.} {d}, {yyyy}", plain, "abbreviated with full stops"),
    ("wkd-slashes", "{wkd} {m}/{d}/{yyyy}", plain, "weekday, then month/day/year"),
    # Lower and upper case.
    ("lower-day-month", "{d} {month} {yyyy}", str.lower, "lower case"),
    ("lower-ordinal-of", "{dth} of {month} {yyyy}", str.lower, "lower case"),
    ("lower-the-ordinal", "the {dth} of {month}, {yyyy}", str.lower, "lower case"),
    ("lower-month-day", "{month} {d}, {yyyy}", str.lower, "lower case"),
    ("lower-mon-day", "{mon} {d} {yyyy}", str.lower, "lower case"),
    ("lower-weekday", "{weekday}, {month} {dth}, {yyyy}", str.lower, "lower case"),
    ("lower-weekday-of", "{weekday}, {dth} of {month} {yyyy}", str.lower, "lower case"),
    ("upper-day-mon", "{dd} {mon} {yyyy}", str.upper, "upper case"),
    ("upper-joined", "{dd}{mon}{yyyy}", str.upper, "upper case, nothing between"),
    ("upper-month-day", "{month} {d}, {yyyy}", str.upper, "upper case"),
    ("upper-month-ordinal", "{month} {dth} {yyyy}", str.upper, "upper case"),
    ("upper-weekday", "{weekday}, {dth} OF {month} {yyyy}", str.upper, "upper case"),
    # In words.
    ("words", "the {dwords} of {month} {ywords}", plain, "words, year in pairs"),
    ("words-comma", "the {dwords} of {month}, {ywords}", plain, "a comma before the year"),
    ("words-weekday", "{weekday}, the {dwords} of {month} {ywords}", plain, "words with a weekday"),
    ("words-weekday-month", "{weekday}, {month} {dwords}, {ywords}", plain, "weekday, month first"),
    ("words-month-first", "{month} {dwords}, {ywords}", plain, "month first"),
    ("words-long", "the {dwords} of {month} {ylong}", plain, "words, year in full"),
    ("words-long-weekday", "{weekday}, the {dwords} of {month} {ylong}", plain, "the same with a weekday"),
    ("words-long-month-first", "{month} {dwords}, {yshort}", plain, "year in full without \"and\""),
    ("words-day", "the {dwords} of {month}, {yyyy}", plain, "only the day in words"),
    ("words-year", "the {dth} of {month} {ywords}", plain, "only the year in words"),
    ("words-year-digits-day", "{d} {month} {ylong}", plain, "only the year in words, in full"),
    ("words-lower", "the {dwords} of {month} {ywords}", str.lower, "words in lower case"),
    ("words-lower-weekday", "{weekday}, the {dwords} of {month} {ylong}", str.lower, "words with a weekday, lower case"),
    ("words-no-hyphens", "{dwords} {month} {ywords}", no_hyphens, "lower case without hyphens"),
    ("words-upper", "{month} {dwords}, {ywords}", str.upper, "words in upper case"),
]]


def number_words(n):
    """0..99 in words, with a hyphen: 23 -> twenty-three."""
    if n < 20:
        return SMALL[n]
    tens, ones = divmod(n, 10)
    return TENS[tens] + ("-" + SMALL[ones] if ones else "")


def ordinal_words(n):
    """1..31 as an ordinal in words: 23 -> twenty-third."""
    head, hyphen, last = number_words(n).rpartition("-")
    return head + hyphen + ORDINAL.get(last, last + "th")


def ordinal_digits(n):
    """1..31 as an ordinal in digits: 23 -> 23rd, 11 -> 11th."""
    ending = "th" if 11 <= n <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def year_in_pairs(year):
    century, rest = divmod(year, 100)
    if year == 2000:
        return "two thousand"
    if rest == 0:
        return number_words(century) + " hundred"
    return number_words(century) + (" oh " if rest < 10 else " ") + number_words(rest)


def year_in_full(year, joint):
    """The year in full; joint is " and " or " "."""
    century, rest = divmod(year, 100)
    head = "two thousand" if century == 20 else number_words(century) + " hundred"
    return head + (joint + number_words(rest) if rest else "")


def two_digit_year(digits):
    """The rule for {yy}: 70..99 are 19xx, 00..69 are 20xx."""
    return 1900 + digits if digits >= 70 else 2000 + digits


def allowed(form, date):
    """A two-digit year is allowed only if the rule gives back the year."""
    return "{yy}" not in form.template or two_digit_year(date.year % 100) == date.year


def fields(date, rng):
    """Every field of the templates for one date."""
    weekday = date.weekday()
    if rng.random() < WRONG_WEEKDAY:
        weekday = (weekday + rng.randrange(1, 7)) % 7
    month = MONTHS[date.month - 1]
    mon = "Sept" if date.month == 9 and rng.random() < SEPT else month[:3]
    year = date.year
    return {
        "d": str(date.day), "dd": f"{date.day:02}",
        "dth": ordinal_digits(date.day), "dwords": ordinal_words(date.day),
        "m": str(date.month), "mm": f"{date.month:02}",
        "mon": mon, "mon.": mon if mon == month else mon + ".", "month": month,
        "wkd": WEEKDAYS[weekday][:3], "weekday": WEEKDAYS[weekday],
        "yyyy": str(year), "yy": f"{year % 100:02}",
        "ywords": year_in_pairs(year), "ylong": year_in_full(year, " and "),
        "yshort": year_in_full(year, " "),
    }


def write(form, date, rng):
    """The text of a date in one form."""
    text = form.template
    for name, value in fields(date, rng).items():
        text = text.replace("{" + name + "}", value)
    return form.change(text)


def held_out(date):
    """The split: a date is held out if the CRC-32 of its ISO text is divisible by 10."""
    return zlib.crc32(date.isoformat().encode()) % 10 == 0


def dates(held):
    """All dates on one side of the split, in order."""
    first = datetime.date(FIRST_YEAR, 1, 1).toordinal()
    last = datetime.date(LAST_YEAR, 12, 31).toordinal()
    every = map(datetime.date.fromordinal, range(first, last + 1))
    return [date for date in every if held_out(date) == held]


def sample(seed):
    """An endless stream of (text, iso, form name) for dates that may be trained on."""
    rng = random.Random(seed)
    trained = dates(held=False)
    by_form = [[date for date in trained if allowed(form, date)] for form in FORMS]
    while True:
        number = rng.randrange(len(FORMS))
        date = rng.choice(by_form[number])
        yield write(FORMS[number], date, rng), date.isoformat(), FORMS[number].name


def held_out_rows(count, seed):
    """`count` rows (text, iso, form name): distinct held-out dates, forms in turn."""
    rng = random.Random(seed)
    left = dates(held=True)
    rng.shuffle(left)
    rows = []
    for i in range(count):
        form = FORMS[i % len(FORMS)]
        at = next(k for k in range(len(left) - 1, -1, -1) if allowed(form, left[k]))
        date = left.pop(at)
        rows.append((write(form, date, rng), date.isoformat(), form.name))
    return rows


def source_symbols():
    """The special symbols, then every character that the forms use, in code point order."""
    texts = (text for text, _, _ in itertools.islice(sample(seed=0), 20000))
    return SPECIALS + sorted(set().union(*texts))


def target_symbols():
    return SPECIALS + sorted("-0123456789")


if __name__ == "__main__":
    example = datetime.date(1999, 9, 23)
    for number, form in enumerate(FORMS, 1):
        text = write(form, example, random.Random(number))
        print(f"{number:2}  {form.name:24} {text:72} {form.rule}")
