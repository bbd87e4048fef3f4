"""`configparser` and `email` in the interpreter's own Python.

Owns the classes that programs see; parsing is the host's. Fed only to programs that use one of
them. Pure; any thread.
"""

from __future__ import annotations

TEXTS_PRELUDE = """
class __dd_Section:
    def __init__(self, parser, name):
        self.parser = parser
        self.name = name

    def get(self, option, fallback=None, **options):
        return self.parser.get(self.name, option, fallback=fallback)

    def getint(self, option, fallback=None):
        return self.parser.getint(self.name, option, fallback=fallback)

    def getfloat(self, option, fallback=None):
        return self.parser.getfloat(self.name, option, fallback=fallback)

    def getboolean(self, option, fallback=None):
        return self.parser.getboolean(self.name, option, fallback=fallback)

    def __getitem__(self, option):
        if not self.parser.has_option(self.name, option):
            raise KeyError(option)
        return self.parser.get(self.name, option)

    def __setitem__(self, option, value):
        self.parser.set(self.name, option, value)

    def __contains__(self, option):
        return self.parser.has_option(self.name, option)

    def __iter__(self):
        return iter(self.parser.options(self.name))

    def __delitem__(self, option):
        self.parser.remove_option(self.name, option)

    def keys(self):
        return self.parser.options(self.name)

    def items(self):
        return self.parser.items(self.name)

    def values(self):
        return [value for key, value in self.parser.items(self.name)]


class __dd_ConfigParser:
    raw = False

    def __init__(self, defaults=None, interpolation=True, allow_no_value=False, delimiters=None,
                 comment_prefixes=None, strict=True, **options):
        self.data = {}
        self.base = dict(defaults or {})
        self.plain = self.raw or interpolation is None
        self.options_given = {'allow_no_value': allow_no_value, 'strict': strict}
        if delimiters is not None:
            self.options_given['delimiters'] = list(delimiters)
        if comment_prefixes is not None:
            self.options_given['comment_prefixes'] = list(comment_prefixes)
        self.optionxform = lambda name: name.lower()

    def keep(self, text):
        case = self.optionxform('A') == 'A'
        defaults, sections = __dd_parsed(__dd_ini_parse(text, self.options_given, case))
        self.base.update(defaults)
        for name, values in sections.items():
            self.data.setdefault(name, {}).update(values)

    def read(self, filenames, encoding=None):
        names = filenames if isinstance(filenames, (list, tuple)) else [filenames]
        found = []
        for name in names:
            if __dd_os.path.isfile(name):
                self.keep(__dd_Path(name).read_bytes().decode(encoding or 'utf-8'))
                found.append(str(name))
        return found

    def read_file(self, file, source=None):
        self.keep(''.join(list(file)))

    def read_string(self, text, source=None):
        self.keep(text)

    def read_dict(self, values, source=None):
        for name, options in values.items():
            self[name] = options

    def sections(self):
        return list(self.data)

    def defaults(self):
        return self.base

    def has_section(self, name):
        return name in self.data

    def add_section(self, name):
        if name in self.data:
            raise ValueError('Section ' + repr(name) + ' already exists')
        self.data[name] = {}

    def remove_section(self, name):
        return self.data.pop(name, None) is not None

    def remove_option(self, name, option):
        return self.data[name].pop(self.optionxform(option), None) is not None

    def merged(self, name):
        if name == 'DEFAULT':
            return dict(self.base)
        if name not in self.data:
            raise KeyError(name)
        return {**self.base, **self.data[name]}

    def options(self, name):
        own = self.base if name == 'DEFAULT' else self.data[name]
        return list(own) + [option for option in self.base if option not in own]

    def has_option(self, name, option):
        return name in self.data and self.optionxform(option) in self.merged(name)

    def filled(self, name, value, depth=0):
        if value is None or self.plain or '%' not in value or depth > 10:
            return value
        values = self.merged(name)
        text = __dd_substitute(
            __dd_re.compile('%\\\\(([^)]+)\\\\)s'),
            lambda found: self.filled(name, values[self.optionxform(found.group(1))], depth + 1),
            value, 0,
        )
        return text.replace('%%', '%')

    def get(self, section, option, raw=False, vars=None, fallback=__dd_slice):
        option = self.optionxform(option)
        if section not in self.data and section != 'DEFAULT':
            if fallback is not __dd_slice:
                return fallback
            raise __dd_ParseError('No section: ' + repr(section))
        values = {**self.merged(section), **(vars or {})}
        if option not in values:
            if fallback is not __dd_slice:
                return fallback
            raise __dd_ParseError('No option ' + repr(option) + ' in section: ' + repr(section))
        return values[option] if raw else self.filled(section, values[option])

    def getint(self, section, option, fallback=__dd_slice, **options):
        found = self.get(section, option, fallback=fallback)
        return found if found is fallback else int(found)

    def getfloat(self, section, option, fallback=__dd_slice, **options):
        found = self.get(section, option, fallback=fallback)
        return found if found is fallback else float(found)

    def getboolean(self, section, option, fallback=__dd_slice, **options):
        found = self.get(section, option, fallback=fallback)
        if found is fallback:
            return found
        word = found.lower()
        if word not in ('1', 'yes', 'true', 'on', '0', 'no', 'false', 'off'):
            raise ValueError('Not a boolean: ' + found)
        return word in ('1', 'yes', 'true', 'on')

    def items(self, section=None, raw=False, vars=None):
        if section is None:
            return [(name, __dd_Section(self, name)) for name in ['DEFAULT'] + list(self.data)]
        return [(option, self.get(section, option)) for option in self.options(section)]

    def set(self, section, option, value=None):
        if value is not None and not isinstance(value, str):
            raise TypeError('option values must be strings')
        own = self.base if section == 'DEFAULT' else self.data[section]
        own[self.optionxform(option)] = value

    def __getitem__(self, name):
        if name not in self.data and name != 'DEFAULT':
            raise KeyError(name)
        return __dd_Section(self, name)

    def __setitem__(self, name, values):
        own = {self.optionxform(str(k)): v if v is None else str(v) for k, v in values.items()}
        if name == 'DEFAULT':
            self.base = own
        else:
            self.data[name] = own

    def __contains__(self, name):
        return name in self.data or name == 'DEFAULT'

    def __iter__(self):
        return iter(['DEFAULT'] + list(self.data))

    def __len__(self):
        return len(self.data) + 1

    def write(self, file, space_around_delimiters=True):
        mark = ' = ' if space_around_delimiters else '='
        parts = [('DEFAULT', self.base)] if self.base else []
        for name, values in parts + list(self.data.items()):
            file.write('[' + name + ']' + chr(10))
            for option, value in values.items():
                shown = '' if value is None else mark + value.replace(chr(10), chr(10) + chr(9))
                file.write(option + shown + chr(10))
            file.write(chr(10))


class __dd_RawConfigParser:
    pass


def __dd_raw_config(*args, **options):
    options['interpolation'] = None
    return __dd_ConfigParser(*args, **options)


__dd_module_configparser = __dd_Module()
__dd_module_configparser.ConfigParser = __dd_ConfigParser
__dd_module_configparser.RawConfigParser = __dd_raw_config
__dd_module_configparser.SafeConfigParser = __dd_ConfigParser
__dd_module_configparser.Error = __dd_ParseError
__dd_module_configparser.NoSectionError = __dd_ParseError
__dd_module_configparser.NoOptionError = __dd_ParseError
__dd_module_configparser.ParsingError = __dd_ParseError


class __dd_Message:
    def __init__(self, found):
        self.headers = found['headers']
        self.kind = found['type']
        self.name = found['filename']
        self.payload = found['payload']
        self.data = found['data']
        self.content = found['content']
        self.charset = found['charset']
        self.attached = found['attachment']
        self.parts = [__dd_Message(part) for part in found['parts']]

    def get(self, name, default=None):
        for key, value in self.headers:
            if key.lower() == name.lower():
                return value
        return default

    def get_all(self, name, default=None):
        found = [value for key, value in self.headers if key.lower() == name.lower()]
        return found or default

    def __getitem__(self, name):
        return self.get(name)

    def __contains__(self, name):
        return self.get(name) is not None

    def keys(self):
        return [key for key, value in self.headers]

    def items(self):
        return list(self.headers)

    def values(self):
        return [value for key, value in self.headers]

    def is_multipart(self):
        return len(self.parts) > 0

    def get_content_type(self):
        return self.kind

    def get_content_maintype(self):
        return self.kind.split('/')[0]

    def get_content_charset(self, default=None):
        return self.charset or default

    def get_content_disposition(self):
        return 'attachment' if self.attached else None

    def get_filename(self, default=None):
        return self.name or default

    def walk(self):
        found = [self]
        for part in self.parts:
            found.extend(list(part.walk()))
        return iter(found)

    def get_payload(self, i=None, decode=False):
        if self.parts:
            return self.parts if i is None else self.parts[i]
        return self.data if decode else self.payload

    def get_content(self):
        return self.content

    def iter_attachments(self):
        return iter([part for part in self.parts if part.attached])

    def iter_parts(self):
        return iter(self.parts)

    def get_body(self, preferencelist=('related', 'html', 'plain')):
        for wanted in preferencelist:
            for part in self.walk():
                if part.kind == 'text/' + wanted and not part.attached:
                    return part
        return None


def __dd_mail(data, policy=None, modern=None):
    modern = policy is not None if modern is None else modern
    return __dd_Message(__dd_mail_parse(data, modern))


class __dd_MailParser:
    def __init__(self, _class=None, policy=None):
        self.policy = policy

    def parse(self, file, headersonly=False):
        return __dd_mail(file.read(), self.policy)

    def parsebytes(self, data, headersonly=False):
        return __dd_mail(data, self.policy)

    def parsestr(self, text, headersonly=False):
        return __dd_mail(text, self.policy)


__dd_module_email_policy = __dd_Module()
__dd_module_email_policy.default = 'default'
__dd_module_email_policy.SMTP = 'default'
__dd_module_email_parser = __dd_Module()
__dd_module_email_parser.BytesParser = __dd_MailParser
__dd_module_email_parser.Parser = __dd_MailParser
__dd_module_email_utils = __dd_Module()
__dd_module_email_utils.parseaddr = lambda text: __dd_mail_address(text)
__dd_module_email_utils.parsedate_to_datetime = lambda text: __dd_mail_date(text)
__dd_module_email = __dd_Module()
__dd_module_email.policy = __dd_module_email_policy
__dd_module_email.parser = __dd_module_email_parser
__dd_module_email.utils = __dd_module_email_utils
__dd_module_email.message_from_string = __dd_mail
__dd_module_email.message_from_bytes = __dd_mail
__dd_module_email.message_from_file = lambda file, policy=None: __dd_mail(file.read(), policy)
__dd_module_email.message_from_binary_file = lambda file, policy=None: __dd_mail(
    file.read(), policy
)
"""
