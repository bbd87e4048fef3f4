"""`logging` in the interpreter's own Python: loggers, handlers, formatters.

Owns what programs see of them. Fed only to programs that use it. Pure; any thread.
"""

from __future__ import annotations

LOGGING_PRELUDE = """
def __dd_padded(text, width):
    if not width:
        return text
    return text.ljust(int(width[1:])) if width[0] == '-' else text.rjust(int(width))


__dd_log_levels = {
    'NOTSET': 0, 'DEBUG': 10, 'INFO': 20, 'WARNING': 30, 'WARN': 30, 'ERROR': 40,
    'CRITICAL': 50, 'FATAL': 50,
}


def __dd_level(level):
    if isinstance(level, int):
        return level
    if level not in __dd_log_levels:
        raise ValueError('Unknown level: ' + repr(level))
    return __dd_log_levels[level]


def __dd_level_name(level):
    for name, number in __dd_log_levels.items():
        if number == level:
            return name
    return 'Level ' + str(level)


def __dd_log_passes(filters, record):
    for each in filters:
        if not (each(record) if __dd_callable(each) else each.filter(record)):
            return False
    return True


class __dd_LogRecord:
    def __init__(self, name, level, message, error):
        self.name = name
        self.levelno = level
        self.levelname = __dd_level_name(level)
        self.message = message
        self.msg = message
        self.error = error
        self.now = __dd_datetime.datetime.now()

    def getMessage(self):
        return self.message


class __dd_Formatter:
    def __init__(self, fmt=None, datefmt=None, style='%', **options):
        self.fmt = fmt or '%(message)s'
        self.datefmt = datefmt
        self.style = style

    def formatTime(self, record, datefmt=None):
        if datefmt:
            return record.now.strftime(datefmt)
        return record.now.strftime('%Y-%m-%d %H:%M:%S,000')

    def format(self, record):
        values = {
            'levelname': record.levelname, 'name': record.name, 'message': record.message,
            'asctime': self.formatTime(record, self.datefmt), 'levelno': record.levelno,
            'lineno': 0, 'filename': 'program.py', 'module': 'program', 'funcName': '<module>',
            'process': 1, 'threadName': 'MainThread', 'pathname': 'program.py',
        }
        if self.style == '{':
            line = self.fmt.format(**values)
        elif self.style == '$':
            line = __dd_Template(self.fmt).substitute(values)
        else:
            line = __dd_substitute(
                __dd_re.compile('%\\(([a-zA-Z]+)\\)(-?[0-9]*)(?:\\.[0-9]+)?[sd]'),
                lambda found: __dd_padded(str(values.get(found.group(1), '')), found.group(2)),
                self.fmt, 0,
            )
        if record.error is not None:
            kind = __dd_name(type(record.error))
            line += chr(10) + kind + ': ' + str(record.error)
        return line


class __dd_LogHandler:
    def __init__(self, stream=None):
        self.level = 0
        self.formatter = None
        self.path = None
        self.stream = stream
        self.filters = []

    def setLevel(self, level):
        self.level = __dd_level(level)

    def setFormatter(self, formatter):
        self.formatter = formatter

    def addFilter(self, filter):
        self.filters.append(filter)

    def handle(self, record):
        if record.levelno < self.level:
            return None
        if not __dd_log_passes(self.filters, record):
            return None
        line = (self.formatter or __dd_Formatter()).format(record) + chr(10)
        if self.path is not None:
            with open(self.path, 'a') as file:
                file.write(line)
        elif self.stream is None or self.stream is __dd_sys.stderr:
            print(line, end='', file=__dd_sys.stderr)
        elif self.stream is __dd_sys.stdout:
            print(line, end='')
        else:
            self.stream.write(line)
        return None

    def flush(self):
        return None

    def close(self):
        return None


def __dd_log_file(filename, mode='a', encoding=None, delay=False, **options):
    made = __dd_LogHandler()
    made.path = __dd_os.path.abspath(str(filename))
    with open(made.path, 'w' if mode == 'w' else 'a'):
        pass
    return made


class __dd_NullHandler:
    def setLevel(self, level):
        return None

    def setFormatter(self, formatter):
        return None

    def handle(self, record):
        return None


class __dd_Logger:
    def __init__(self, name, parent):
        self.name = name
        self.parent = parent
        self.level = 30 if parent is None else 0
        self.handlers = []
        self.propagate = True
        self.disabled = False

    def getEffectiveLevel(self):
        logger = self
        while logger is not None:
            if logger.level:
                return logger.level
            logger = logger.parent
        return 0

    def isEnabledFor(self, level):
        return not self.disabled and level >= max(
            self.getEffectiveLevel(), __dd_log_disabled[0] + 1
        )

    def log(self, level, message, *args, exc_info=None, **options):
        if not self.isEnabledFor(level):
            return None
        text = str(message)
        if len(args) == 1 and isinstance(args[0], dict) and args[0]:
            text = text % args[0]
        elif args:
            text = text % args
        error = exc_info if isinstance(exc_info, BaseException) else None
        record = __dd_LogRecord(self.name, level, text, error)
        found = False
        logger = self
        while logger is not None:
            for handler in logger.handlers:
                found = True
                handler.handle(record)
            logger = logger.parent if logger.propagate else None
        if not found and level >= 30:
            print(text, file=__dd_sys.stderr)
        return None

    def debug(self, message, *args, **options):
        self.log(10, message, *args, **options)

    def info(self, message, *args, **options):
        self.log(20, message, *args, **options)

    def warning(self, message, *args, **options):
        self.log(30, message, *args, **options)

    def warn(self, message, *args, **options):
        self.log(30, message, *args, **options)

    def error(self, message, *args, **options):
        self.log(40, message, *args, **options)

    def exception(self, message, *args, **options):
        self.log(40, message, *args, **options)

    def critical(self, message, *args, **options):
        self.log(50, message, *args, **options)

    def setLevel(self, level):
        self.level = __dd_level(level)

    def addHandler(self, handler):
        if not any([handler is each for each in self.handlers]):
            self.handlers.append(handler)

    def removeHandler(self, handler):
        self.handlers = [each for each in self.handlers if each is not handler]

    def hasHandlers(self):
        logger = self
        while logger is not None:
            if logger.handlers:
                return True
            logger = logger.parent
        return False

    def getChild(self, suffix):
        return __dd_get_logger(suffix if self.parent is None else self.name + '.' + suffix)


__dd_log_root = __dd_Logger('root', None)
__dd_log_known = {}
__dd_log_disabled = [0]


def __dd_get_logger(name=None):
    if not name or name == 'root':
        return __dd_log_root
    if name not in __dd_log_known:
        parent = __dd_get_logger(name.rpartition('.')[0])
        __dd_log_known[name] = __dd_Logger(name, parent)
    return __dd_log_known[name]


def __dd_log_at(level):
    def log(message, *args, **options):
        if not __dd_log_root.handlers:
            __dd_basic_config()
        __dd_log_root.log(level, message, *args, **options)
    return log


def __dd_basic_config(filename=None, filemode='a', format=None, datefmt=None, style='%',
                      level=None, stream=None, handlers=None, force=False, encoding=None,
                      **options):
    if force:
        __dd_log_root.handlers = []
    if __dd_log_root.handlers:
        return None
    if handlers is None:
        made = __dd_log_file(filename, filemode) if filename else __dd_LogHandler(stream)
        handlers = [made]
    plain = {'{': '{levelname}:{name}:{message}', '$': '$levelname:$name:$message'}
    formatter = __dd_Formatter(
        format or plain.get(style, '%(levelname)s:%(name)s:%(message)s'), datefmt, style
    )
    for handler in handlers:
        if getattr(handler, 'formatter', 0) is None:
            handler.setFormatter(formatter)
        __dd_log_root.addHandler(handler)
    if level is not None:
        __dd_log_root.setLevel(level)
    return None


def __dd_log_disable(level=50):
    __dd_log_disabled[0] = __dd_level(level)


__dd_module_logging = __dd_Module()
for __dd_each in __dd_log_levels:
    setattr(__dd_module_logging, __dd_each, __dd_log_levels[__dd_each])
__dd_module_logging.basicConfig = __dd_basic_config
__dd_module_logging.getLogger = __dd_get_logger
__dd_module_logging.getLevelName = __dd_level_name
__dd_module_logging.Logger = __dd_Logger
__dd_module_logging.Formatter = __dd_Formatter
__dd_module_logging.StreamHandler = __dd_LogHandler
__dd_module_logging.FileHandler = __dd_log_file
__dd_module_logging.NullHandler = __dd_NullHandler
__dd_module_logging.root = __dd_log_root
__dd_module_logging.disable = __dd_log_disable
__dd_module_logging.shutdown = __dd_nothing
__dd_module_logging.captureWarnings = __dd_nothing
__dd_module_logging.debug = __dd_log_at(10)
__dd_module_logging.info = __dd_log_at(20)
__dd_module_logging.warning = __dd_log_at(30)
__dd_module_logging.error = __dd_log_at(40)
__dd_module_logging.exception = __dd_log_at(40)
__dd_module_logging.critical = __dd_log_at(50)
__dd_module_logging.log = lambda level, message, *args, **options: __dd_log_at(level)(
    message, *args, **options
)
"""
