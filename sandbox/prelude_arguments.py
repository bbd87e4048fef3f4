"""`argparse` in the interpreter's own Python.

Owns the classes that programs see. A command line is taken apart by the host with Python's own
`argparse`; types, defaults and choices are the program's. Fed only to programs that use one of
them. Pure; any thread.
"""

from __future__ import annotations

ARGUMENTS_PRELUDE = """
class __dd_Namespace:
    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)

    def __contains__(self, name):
        return name in __dd_vars(self)

    def __eq__(self, other):
        return isinstance(other, __dd_Namespace) and __dd_vars(self) == __dd_vars(other)

    def __repr__(self):
        inner = [name + '=' + repr(value) for name, value in __dd_vars(self).items()]
        return 'Namespace(' + ', '.join(inner) + ')'


def __dd_argument_plain(value):
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (list, tuple)):
        return [__dd_argument_plain(item) for item in value]
    return str(value)


class __dd_Action:
    def __init__(self, dest, kind, value, choices):
        self.dest = dest
        self.kind = kind
        self.default = value
        self.choices = choices
        self.option = ''


class __dd_ArgumentParser:
    def __init__(self, prog=None, usage=None, description=None, epilog=None, **options):
        self.prog = prog or 'program.py'
        self.words = {'usage': usage, 'description': description, 'epilog': epilog}
        self.specs = []
        self.actions = []
        self.values = {}
        self.children = {}
        self.branch = None
        self.description = description

    def add_argument(self, *names, **options):
        if options.get('action') == 'version':
            options['version'] = str(options.get('version'))
        elif options.get('action') not in (None, 'store', 'store_true', 'store_false', 'append',
                                           'count', 'store_const', 'append_const', 'extend'):
            options['action'] = __dd_argument_boolean(options['action'])
        kind = options.pop('type', None)
        value = options.pop('default', None)
        choices = options.get('choices')
        if choices is not None:
            options['choices'] = [__dd_argument_plain(item) for item in choices]
        given = {name: __dd_argument_plain(item) for name, item in options.items()}
        shown = __dd_argument_plain(value)
        spec = [list(names), given, shown, __dd_name(kind) if kind is not None else None]
        dest, option = __dd_argument_dest(spec)
        action = options.get('action')
        if value is None and action in ('store_true', 'store_false'):
            value = action == 'store_false'
        made = __dd_Action(dest, kind, value, list(choices) if choices is not None else None)
        made.option = option
        self.specs.append(spec)
        self.actions.append(made)
        return made

    def add_argument_group(self, *args, **options):
        return self

    def add_mutually_exclusive_group(self, required=False):
        return self

    def add_subparsers(self, dest=None, required=False, help=None, **options):
        self.branch = [dest, required]
        return self

    def add_parser(self, name, help=None, aliases=(), **options):
        made = __dd_ArgumentParser(prog=self.prog + ' ' + name, **options)
        for each in [name] + list(aliases):
            self.children[each] = made
        return made

    def set_defaults(self, **values):
        self.values.update(values)

    def get_default(self, dest):
        for action in self.actions:
            if action.dest == dest:
                return action.default
        return self.values.get(dest)

    def error(self, message):
        print(__dd_argument_text(self.prog, self.words, self.specs, False), end='')
        print(self.prog + ': error: ' + message)
        __dd_exit(2)

    def exit(self, status=0, message=None):
        if message:
            print(message, end='')
        __dd_exit(status)

    def format_help(self):
        return __dd_argument_text(self.prog, self.words, self.specs, True)

    def format_usage(self):
        return __dd_argument_text(self.prog, self.words, self.specs, False)

    def print_help(self, file=None):
        print(self.format_help(), end='')

    def print_usage(self, file=None):
        print(self.format_usage(), end='')

    def convert(self, action, value):
        if isinstance(value, list):
            return [self.convert(action, item) for item in value]
        if action.kind is None or not isinstance(value, str):
            return value
        try:
            return action.kind(value)
        except (ValueError, TypeError):
            self.error(
                'argument ' + action.option + ': invalid ' + __dd_name(action.kind)
                + ' value: ' + repr(value)
            )

    def check(self, action, value):
        for item in value if isinstance(value, list) else [value]:
            if action.choices is not None and item not in action.choices:
                shown = ', '.join([repr(choice) for choice in action.choices])
                self.error(
                    'argument ' + action.option + ': invalid choice: ' + repr(item)
                    + ' (choose from ' + shown + ')'
                )

    def parse_known_args(self, args=None, namespace=None):
        words = [str(item) for item in (__dd_sys.argv[1:] if args is None else args)]
        branch = [self.branch[0], self.branch[1], list(self.children)] if self.branch else None
        parsed = __dd_argument_parse(self.prog, self.words, self.specs, words, branch)
        values, rest, printed, code, chosen = parsed
        if printed:
            print(printed, end='')
        if code is not None:
            __dd_exit(code)
        found = __dd_Namespace() if namespace is None else namespace
        for action in self.actions:
            if action.dest in values:
                value = self.convert(action, values[action.dest])
                self.check(action, value)
            else:
                value = self.values.get(action.dest, action.default)
                if isinstance(value, str):
                    value = self.convert(action, value)
            if action.dest in values or not hasattr(found, action.dest):
                setattr(found, action.dest, value)
        for name, value in self.values.items():
            if not hasattr(found, name):
                setattr(found, name, value)
        if branch and branch[0]:
            setattr(found, branch[0], chosen)
        if chosen is not None:
            inner, rest = self.children[chosen].parse_known_args(rest, found)
        return (found, rest)

    def parse_args(self, args=None, namespace=None):
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            self.error('unrecognized arguments: ' + ' '.join(rest))
        return found


def __dd_argument_boolean(action):
    if action == 'boolean':
        return action
    raise ValueError('an action of the program\\'s own cannot be used here')


__dd_module_argparse = __dd_Module()
__dd_module_argparse.ArgumentParser = __dd_ArgumentParser
__dd_module_argparse.Namespace = __dd_Namespace
__dd_module_argparse.ArgumentTypeError = ValueError
__dd_module_argparse.ArgumentError = ValueError
__dd_module_argparse.RawTextHelpFormatter = None
__dd_module_argparse.RawDescriptionHelpFormatter = None
__dd_module_argparse.ArgumentDefaultsHelpFormatter = None
__dd_module_argparse.HelpFormatter = None
__dd_module_argparse.BooleanOptionalAction = 'boolean'
__dd_module_argparse.SUPPRESS = '==SUPPRESS=='
__dd_module_argparse.REMAINDER = '...'
"""
